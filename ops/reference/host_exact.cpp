#include "ops/reference/host_exact.h"

#include "ops/kernels/exact.h"
#include "ops/kernels/hd.h"

namespace shoal::ops {

template <typename T>
void HostExactOps<T>::scale(TensorView x, double factor) {
  kernels::for_each_index(x.elements(), kernels::Scale<T>{x.as<T>(), static_cast<T>(factor)});
}

template <typename T>
void HostExactOps<T>::add_scaled(TensorView y, double factor, ConstTensorView x) {
  kernels::for_each_index(x.elements(),
                          kernels::AddScaled<T>{y.as<T>(), x.as<T>(), static_cast<T>(factor)});
}

template class HostExactOps<float>;
template class HostExactOps<double>;

}  // namespace shoal::ops
