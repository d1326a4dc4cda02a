#include "ops/cuda/cuda_pointwise.h"

#include "ops/kernels/dropout.h"

namespace shoal::ops {

void CudaPointwiseOps::activate(ConstTensorView x, TensorView y, Activation activation) {
  queue_.note(queue_.table.pointwise.activate(queue_.stream, x.as<float>(), y.as<float>(),
                                              x.elements(), static_cast<std::int32_t>(activation)));
}

void CudaPointwiseOps::bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                                       Activation activation) {
  queue_.note(queue_.table.pointwise.bias_activation(
      queue_.stream, x.as<float>(), bias.as_or_null<float>(), y.as<float>(), x.rows(), x.cols(),
      static_cast<std::int32_t>(activation)));
}

void CudaPointwiseOps::bias_activation_backward(ConstTensorView kept, TensorView dy,
                                                TensorView dbias, Activation activation,
                                                Into into) {
  queue_.note(queue_.table.pointwise.bias_activation_backward(
      queue_.stream, kept.as_or_null<float>(), dy.as<float>(), dbias.as_or_null<float>(), dy.rows(),
      dy.cols(), static_cast<std::int32_t>(activation), into == Into::kAdd));
}

void CudaPointwiseOps::add(ConstTensorView a, ConstTensorView b, TensorView y,
                           Activation activation) {
  queue_.note(queue_.table.pointwise.add(queue_.stream, a.as<float>(), b.as<float>(), y.as<float>(),
                                         y.elements(), static_cast<std::int32_t>(activation)));
}

void CudaPointwiseOps::dropout(ConstTensorView x, TensorView y, const Dropout& d) {
  queue_.note(queue_.table.pointwise.dropout(
      queue_.stream, x.as<float>(), y.as<float>(), x.elements(), d.seed, d.stream,
      kernels::dropout_threshold(d.drop), static_cast<float>(1 / (1 - d.drop))));
}

}  // namespace shoal::ops
