#pragma once

#include "ops/cuda/cuda_queue.h"
#include "ops/device/pointwise_ops.h"

namespace shoal::ops {

/// PointwiseOps through the rows of pointwise_table.h.
class CudaPointwiseOps : public virtual PointwiseOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaPointwiseOps(CudaQueue& queue) : queue_(queue) {}
  using PointwiseOps::bias_activation;
  void activate(ConstTensorView x, TensorView y, Activation activation) override;
  void bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                       Activation activation) override;
  void bias_activation_backward(ConstTensorView kept, TensorView dy, TensorView dbias,
                                Activation activation, Into into) override;
  void add(ConstTensorView a, ConstTensorView b, TensorView y, Activation activation) override;
  void dropout(ConstTensorView x, TensorView y, const Dropout& dropout) override;

 private:
  CudaQueue& queue_;
};

}  // namespace shoal::ops
