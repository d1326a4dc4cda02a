#pragma once

#include "ops/device/types.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// Exact arithmetic: every operation rounded once, in a fixed order, no fused multiply-add; equal
/// to the bit on every backend of one real().
class ExactOps : public virtual DeviceOps {
 public:
  /// x *= factor.
  virtual void scale(TensorView x, double factor) = 0;
  /// y = y + fl(factor * x).
  virtual void add_scaled(TensorView y, double factor, ConstTensorView x) = 0;
};

}  // namespace shoal::ops
