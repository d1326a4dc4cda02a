#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/loss_ops.h"

namespace shoal::ops {

/// LossOps through the rows of loss_table.h.
class CudaLossOps : public virtual LossOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaLossOps(CudaQueue& queue) : queue_(queue) {}
  void softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                             const CrossEntropy& options, TensorView dlogits, TensorView loss,
                             TensorView correct) override;
  void squared_error(ConstTensorView output, ConstTensorView targets, double scale,
                     TensorView doutput, TensorView loss) override;
  void binary_cross_entropy(ConstTensorView logits, ConstTensorView targets, double scale,
                            TensorView dlogits, TensorView loss, TensorView correct) override;

 private:
  CudaQueue& queue_;
};

}  // namespace shoal::ops
