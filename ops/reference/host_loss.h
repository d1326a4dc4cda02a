#pragma once

#include "ops/device/loss_ops.h"

namespace shoal::ops {

/// LossOps as plain loops over the kernel bodies.
template <typename T>
class HostLossOps : public virtual LossOps {
 public:
  void softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                             const CrossEntropy& options, TensorView dlogits, TensorView loss,
                             TensorView correct) override;
  void squared_error(ConstTensorView output, ConstTensorView targets, double scale,
                     TensorView doutput, TensorView loss) override;
  void binary_cross_entropy(ConstTensorView logits, ConstTensorView targets, double scale,
                            TensorView dlogits, TensorView loss, TensorView correct) override;
};

extern template class HostLossOps<float>;
extern template class HostLossOps<double>;

}  // namespace shoal::ops
