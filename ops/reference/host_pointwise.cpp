#include "ops/reference/host_pointwise.h"

#include "ops/kernels/activation.h"
#include "ops/kernels/dropout.h"

namespace shoal::ops {

template <typename T>
void HostPointwiseOps<T>::activate(ConstTensorView x, TensorView y, Activation activation) {
  dispatch(activation, [&](auto tag) {
    kernels::for_each_index(x.elements(),
                            kernels::Activate<T, decltype(tag)::kValue>{x.as<T>(), y.as<T>()});
  });
}

template <typename T>
void HostPointwiseOps<T>::bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                                          Activation activation) {
  dispatch(activation, [&](auto tag) {
    kernels::for_each_index(x.elements(),
                            kernels::BiasActivation<T, decltype(tag)::kValue>{
                                x.as<T>(), bias.as_or_null<T>(), y.as<T>(), x.cols()});
  });
}

template <typename T>
void HostPointwiseOps<T>::bias_activation_backward(ConstTensorView kept, TensorView dy,
                                                   TensorView dbias, Activation activation,
                                                   Into into) {
  dispatch(activation, [&](auto tag) {
    kernels::for_each_index(dy.cols(), kernels::BiasActivationBackward<T, decltype(tag)::kValue>{
                                           kept.as_or_null<T>(), dy.as<T>(), dbias.as_or_null<T>(),
                                           dy.rows(), dy.cols(), into == Into::kAdd});
  });
}

template <typename T>
void HostPointwiseOps<T>::add(ConstTensorView a, ConstTensorView b, TensorView y,
                              Activation activation) {
  dispatch(activation, [&](auto tag) {
    kernels::for_each_index(y.elements(), kernels::AddActivation<T, decltype(tag)::kValue>{
                                              a.as<T>(), b.as<T>(), y.as<T>()});
  });
}

template <typename T>
void HostPointwiseOps<T>::dropout(ConstTensorView x, TensorView y, const Dropout& d) {
  kernels::for_each_index((x.elements() + 3) / 4,
                          kernels::DropoutBlock<T>{x.as<T>(), y.as<T>(), x.elements(), d.seed,
                                                   d.stream, kernels::dropout_threshold(d.drop),
                                                   static_cast<T>(1 / (1 - d.drop))});
}

template class HostPointwiseOps<float>;
template class HostPointwiseOps<double>;

}  // namespace shoal::ops
