#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/norm_ops.h"

namespace shoal::ops {

/// NormOps through the rows of norm_table.h.
class CudaNormOps : public virtual NormOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaNormOps(CudaQueue& queue) : queue_(queue) {}

  void row_norm(const NormSizes& sizes, bool centered, ConstTensorView x, ConstTensorView weight,
                ConstTensorView bias, TensorView y, TensorView stats) override;
  void row_norm_backward(const NormSizes& sizes, bool centered, const Backward& pass) override;
  void batch_stats(const BatchNormSizes& sizes, ConstTensorView x, TensorView stats) override;
  void running_stats(double epsilon, ConstTensorView mean, ConstTensorView variance,
                     TensorView stats) override;
  void batch_norm(const BatchNormSizes& sizes, ConstTensorView x, ConstTensorView stats,
                  ConstTensorView weight, ConstTensorView bias, TensorView y) override;
  void batch_norm_backward(const BatchNormSizes& sizes, bool fixed, const Backward& pass,
                           TensorView sums) override;
  void running_update(const BatchNormSizes& sizes, double momentum, ConstTensorView stats,
                      TensorView mean, TensorView variance, TensorView batches) override;

 private:
  CudaQueue& queue_;
};

}  // namespace shoal::ops
