#pragma once

#include "ops/device/types.h"
#include "ops/kernels/conv_sizes.h"
#include "ops/tensor.h"

namespace shoal::ops {

using ConvSizes = ShoalConvSizes;
using PoolSizes = ShoalPoolSizes;

/// What the way back through a convolution reads and writes. Empty views of gradients are not
/// wanted; dx is put, the others are put or added as `into` says.
struct ConvBackward {
  ConstTensorView x;
  ConstTensorView weight;
  ConstTensorView y;
  ConstTensorView argmax;  ///< empty when pool is 1
  ConstTensorView dy;
  Activation activation = Activation::kNone;
  TensorView dweight;
  TensorView dbias;
  TensorView dx;
  Into into = Into::kReplace;
};

/// Convolutions and poolings, NCHW, PyTorch's conventions. Which of a window was the largest is
/// kept as a byte, so a window has at most 255 places.
class ConvOps : public virtual DeviceOps {
 public:
  /// y = activation(maxpool(x * weight + bias)), in one pass over the result.
  /// Shapes: x [N, in, H, W], weight [out, in / groups, K, K], bias [out] (or empty) ->
  /// y [N, out, conv_height / pool, conv_width / pool], argmax alike u8 (empty when pool is 1).
  virtual void conv2d(const ConvSizes& sizes, ConstTensorView x, ConstTensorView weight,
                      ConstTensorView bias, Activation activation, TensorView y,
                      TensorView argmax) = 0;
  virtual void conv2d_backward(const ConvSizes& sizes, const ConvBackward& pass) = 0;

  /// Shapes: x [planes, height, width] -> y, argmax [planes, out_height, out_width].
  virtual void max_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y,
                        TensorView argmax) = 0;
  virtual void max_pool_backward(const PoolSizes& sizes, ConstTensorView dy, ConstTensorView argmax,
                                 TensorView dx) = 0;
  virtual void avg_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y) = 0;
  virtual void avg_pool_backward(const PoolSizes& sizes, ConstTensorView dy, TensorView dx) = 0;
  /// Shapes: x [rows, ...] -> y [rows]: the mean of everything behind a row.
  virtual void row_mean(ConstTensorView x, TensorView y) = 0;
  virtual void row_mean_backward(ConstTensorView dy, TensorView dx) = 0;
};

}  // namespace shoal::ops
