#pragma once

#include "ops/device/pointwise_ops.h"

namespace shoal::ops {

/// PointwiseOps as plain loops over the kernel bodies.
template <typename T>
class HostPointwiseOps : public virtual PointwiseOps {
 public:
  using PointwiseOps::bias_activation;
  void activate(ConstTensorView x, TensorView y, Activation activation) override;
  void bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                       Activation activation) override;
  void bias_activation_backward(ConstTensorView kept, TensorView dy, TensorView dbias,
                                Activation activation, Into into) override;
  void add(ConstTensorView a, ConstTensorView b, TensorView y, Activation activation) override;
  void dropout(ConstTensorView x, TensorView y, const Dropout& dropout) override;
};

extern template class HostPointwiseOps<float>;
extern template class HostPointwiseOps<double>;

}  // namespace shoal::ops
