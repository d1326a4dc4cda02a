#pragma once

#include "ops/reference/host_loss.h"

namespace shoal::ops {

/// LossOps on the widest vectors at hand, where it is worth it.
class CpuLossOps : public virtual HostLossOps<float> {
 public:
  void softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                             const CrossEntropy& options, TensorView dlogits, TensorView loss,
                             TensorView correct) override;
};

}  // namespace shoal::ops
