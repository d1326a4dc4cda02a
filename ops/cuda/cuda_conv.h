#pragma once

#include <vector>

#include "ops/cuda/cuda_queue.h"
#include "ops/device/conv_ops.h"

namespace shoal::ops {

/// ConvOps through the rows of conv_table.h: columns and results by kernels of our own, products by
/// cuBLAS, as many images at once as kScratchBytes of columns allow.
class CudaConvOps : public virtual ConvOps {
 public:
  /// Requires: the queue lives longer.
  explicit CudaConvOps(CudaQueue& queue) : queue_(queue) {}
  ~CudaConvOps() override;

  /// Bytes of the device that convolutions of these sizes keep, for the next to use.
  static std::vector<std::size_t> scratch_bytes(const ConvSizes& sizes);

  void conv2d(const ConvSizes& sizes, ConstTensorView x, ConstTensorView weight,
              ConstTensorView bias, Activation activation, TensorView y,
              TensorView argmax) override;
  void conv2d_backward(const ConvSizes& sizes, const ConvBackward& pass) override;
  void max_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y,
                TensorView argmax) override;
  void max_pool_backward(const PoolSizes& sizes, ConstTensorView dy, ConstTensorView argmax,
                         TensorView dx) override;
  void avg_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y) override;
  void avg_pool_backward(const PoolSizes& sizes, ConstTensorView dy, TensorView dx) override;
  void row_mean(ConstTensorView x, TensorView y) override;
  void row_mean_backward(ConstTensorView dy, TensorView dx) override;

 private:
  static constexpr std::size_t kScratchBytes = std::size_t{64} << 20U;

  /// Columns and products of a part of the batch, on the device.
  struct Room {
    float* col;
    float* product;
    std::size_t images;  // at once
  };
  /// Null pointers when there is no memory, which is noted.
  Room room(const ConvSizes& sizes);
  static std::size_t images_at_once(const ConvSizes& sizes);
  void release();

  CudaQueue& queue_;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace shoal::ops
