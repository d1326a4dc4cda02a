#pragma once

#include "ops/device/types.h"
#include "ops/kernels/norm_sizes.h"
#include "ops/tensor.h"

namespace shoal::ops {

using NormSizes = ShoalNormSizes;
using BatchNormSizes = ShoalBatchNormSizes;

/// Of the variance of a sample: count / (count - 1), and 1 for a single value, which has none.
inline double unbiased_factor(const BatchNormSizes& s) {
  const auto count = static_cast<double>(s.batch * s.inner);
  return count > 1 ? count / (count - 1) : 1;
}

/// Normalisation over rows (layer, group, RMS norm) and over the batch, with a factor (weight) and
/// an offset (bias) a channel. What backward needs lies in `stats`.
class NormOps : public virtual DeviceOps {
 public:
  /// What the way back through either reads and writes. Empty gradients of parameters are not
  /// wanted, they are put or added as `into` says; dx may be dy, or empty: not wanted.
  struct Backward {
    ConstTensorView x;
    ConstTensorView weight;
    ConstTensorView stats;
    ConstTensorView dy;
    TensorView dx;
    TensorView dweight;
    TensorView dbias;
    Into into = Into::kReplace;
  };

  /// Shapes: x, y [rows, cols], weight and bias [channels] (an empty bias: none), stats [rows, 2].
  /// `centered`: the mean is subtracted.
  virtual void row_norm(const NormSizes& sizes, bool centered, ConstTensorView x,
                        ConstTensorView weight, ConstTensorView bias, TensorView y,
                        TensorView stats) = 0;
  virtual void row_norm_backward(const NormSizes& sizes, bool centered, const Backward& pass) = 0;

  /// Mean, 1 / sqrt(variance + epsilon) and variance of each channel, of this batch or as they ran.
  /// Shapes: x [batch, channels, inner], stats [channels, 3], mean and variance [channels].
  virtual void batch_stats(const BatchNormSizes& sizes, ConstTensorView x, TensorView stats) = 0;
  virtual void running_stats(double epsilon, ConstTensorView mean, ConstTensorView variance,
                             TensorView stats) = 0;
  virtual void batch_norm(const BatchNormSizes& sizes, ConstTensorView x, ConstTensorView stats,
                          ConstTensorView weight, ConstTensorView bias, TensorView y) = 0;
  /// `fixed`: stats did not come from this batch. Shapes: sums [channels, 2], scratch.
  virtual void batch_norm_backward(const BatchNormSizes& sizes, bool fixed, const Backward& pass,
                                   TensorView sums) = 0;
  /// running <- (1 - momentum) running + momentum batch; batches [1] is counted up.
  virtual void running_update(const BatchNormSizes& sizes, double momentum, ConstTensorView stats,
                              TensorView mean, TensorView variance, TensorView batches) = 0;
};

}  // namespace shoal::ops
