#pragma once

#include "ops/reference/host_pointwise.h"

namespace shoal::ops {

/// PointwiseOps on the widest vectors at hand, equal to the kernel bodies to the bit.
class CpuPointwiseOps : public virtual HostPointwiseOps<float> {
 public:
  using PointwiseOps::bias_activation;
  void activate(ConstTensorView x, TensorView y, Activation activation) override;
  void bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                       Activation activation) override;
  void bias_activation_backward(ConstTensorView kept, TensorView dy, TensorView dbias,
                                Activation activation, Into into) override;
  void add(ConstTensorView a, ConstTensorView b, TensorView y, Activation activation) override;
};

}  // namespace shoal::ops
