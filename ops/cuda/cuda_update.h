#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/update_ops.h"

namespace shoal::ops {

/// UpdateOps through the rows of update_table.h.
class CudaUpdateOps : public virtual UpdateOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaUpdateOps(CudaQueue& queue) : queue_(queue) {}
  void update(const UpdateStep& step) override;
  void sum_squares(ConstTensorView x, TensorView leaves) override;

 private:
  CudaQueue& queue_;
};

}  // namespace shoal::ops
