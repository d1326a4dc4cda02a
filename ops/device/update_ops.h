#pragma once

#include "ops/device/types.h"
#include "ops/kernels/update_rule.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// One step of an optimizer over some elements. `first` and `second` are empty exactly when the
/// rule has none; `direction` is where kLamb puts its result, and empty otherwise.
struct UpdateStep {
  UpdateRule rule = UpdateRule::kSgd;
  TensorView parameters;
  ConstTensorView gradients;
  TensorView first;
  TensorView second;
  TensorView direction;
  UpdateNumbers<double> numbers;
};

/// What moves parameters. Exact arithmetic, as ExactOps; see kernels/update_rules.inc.
class UpdateOps : public virtual DeviceOps {
 public:
  /// One step in place. Shapes: all views of equal length.
  virtual void update(const UpdateStep& step) = 0;
  /// Sums of squares of pieces of 256 elements, in double whatever real() is; see
  /// kernels::SumSquares for the order. Shapes: x [n], leaves [ceil(n / 256)] f64.
  virtual void sum_squares(ConstTensorView x, TensorView leaves) = 0;
};

}  // namespace shoal::ops
