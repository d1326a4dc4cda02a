#include "ops/reference/host_update.h"

#include "ops/kernels/hd.h"
#include "ops/kernels/update.h"

namespace shoal::ops {

template <typename T>
void HostUpdateOps<T>::update(const UpdateStep& step) {
  const std::size_t count = step.parameters.elements();
  kernels::with_update(step.rule, arrays_of<T>(step), step.numbers.rounded<T>(),
                       [count](const auto& body) { kernels::for_each_index(count, body); });
}

template <typename T>
void HostUpdateOps<T>::sum_squares(ConstTensorView x, TensorView leaves) {
  SHOAL_CHECK(leaves.elements() == kernels::leaf_count(x.elements()), "each leaf has a sum");
  kernels::for_each_index(leaves.elements(),
                          kernels::SumSquares<T>{x.as<T>(), leaves.as<double>(), x.elements()});
}

template class HostUpdateOps<float>;
template class HostUpdateOps<double>;

}  // namespace shoal::ops
