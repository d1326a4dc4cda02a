#include "ops/cpu/cpu_pointwise.h"

#include "ops/cpu/elementwise.h"

namespace shoal::ops {

void CpuPointwiseOps::activate(ConstTensorView x, TensorView y, Activation activation) {
  cpu::activate(x.as<float>(), y.as<float>(), x.elements(), activation);
}

void CpuPointwiseOps::bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                                      Activation activation) {
  cpu::bias_activation(x.as<float>(), bias.as_or_null<float>(), y.as<float>(), x.rows(), x.cols(),
                       activation);
}

void CpuPointwiseOps::bias_activation_backward(ConstTensorView kept, TensorView dy,
                                               TensorView dbias, Activation activation, Into into) {
  cpu::bias_activation_backward(kept.as_or_null<float>(), dy.as<float>(), dbias.as_or_null<float>(),
                                dy.rows(), dy.cols(), activation, into == Into::kAdd);
}

void CpuPointwiseOps::add(ConstTensorView a, ConstTensorView b, TensorView y,
                          Activation activation) {
  cpu::add_activation(a.as<float>(), b.as<float>(), y.as<float>(), y.elements(), activation);
}

}  // namespace shoal::ops
