#pragma once

#include "ops/device/types.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// Numbers of one SGD step; see kernels/exact.h for the arithmetic.
struct SgdScalars {
  double lr = 0;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

/// Exact arithmetic: every operation rounded once, in a fixed order, no fused multiply-add; equal
/// to the bit on every backend of one real().
class ExactOps : public virtual DeviceOps {
 public:
  /// x *= factor.
  virtual void scale(TensorView x, double factor) = 0;
  /// y = y + fl(factor * x).
  virtual void add_scaled(TensorView y, double factor, ConstTensorView x) = 0;
  /// One SGD step in place; momentum is empty exactly when scalars.momentum is 0.
  virtual void sgd(TensorView parameters, ConstTensorView gradients, TensorView momentum,
                   const SgdScalars& scalars) = 0;
};

}  // namespace shoal::ops
