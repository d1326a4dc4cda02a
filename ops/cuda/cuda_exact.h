#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/exact_ops.h"

namespace shoal::ops {

/// ExactOps through the rows of exact_table.h.
class CudaExactOps : public virtual ExactOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaExactOps(CudaQueue& queue) : queue_(queue) {}
  void scale(TensorView x, double factor) override;
  void add_scaled(TensorView y, double factor, ConstTensorView x) override;

 private:
  CudaQueue& queue_;
};

}  // namespace shoal::ops
