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

template <typename T>
void HostExactOps<T>::sgd(TensorView parameters, ConstTensorView gradients, TensorView momentum,
                          const SgdScalars& s) {
  kernels::for_each_index(
      parameters.elements(),
      kernels::Sgd<T>{parameters.as<T>(), gradients.as<T>(), momentum.as_or_null<T>(),
                      static_cast<T>(s.lr), static_cast<T>(s.momentum),
                      static_cast<T>(s.weight_decay), s.nesterov});
}

template class HostExactOps<float>;
template class HostExactOps<double>;

}  // namespace shoal::ops
