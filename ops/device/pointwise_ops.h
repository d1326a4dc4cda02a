#pragma once

#include <cstdint>

#include "ops/device/types.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// What is left of a tensor by chance. The mask is a function of these numbers and of an element's
/// place alone, so that nothing of it is remembered.
struct Dropout {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  double drop = 0;  ///< share of elements that become 0; the others are multiplied by 1/(1-drop)
};

/// Element by element; equal to the bit on every backend of one real(), as ExactOps.
class PointwiseOps : public virtual DeviceOps {
 public:
  /// y = activation(x). NaN stays NaN. Shapes: equal.
  virtual void activate(ConstTensorView x, TensorView y, Activation activation) = 0;
  /// y = activation(x + bias), and x becomes the slope there, where y is not x, for the way back.
  /// Shapes: x, y [N, C], bias [C] (or empty: none).
  virtual void bias_activation(TensorView x, ConstTensorView bias, TensorView y,
                               Activation activation) = 0;
  /// The same in place.
  void bias_activation(TensorView y, ConstTensorView bias, Activation activation) {
    bias_activation(y, bias, y, activation);
  }
  /// dy times the activation's slope, in place, and dbias (+)= column sums of the result, rows in
  /// order. Shapes: kept, dy [N, C], dbias [C] (or empty: not wanted); kept is what went into the
  /// activation where keeps_input() says so, the slope for kSlope, else what came out, and may be
  /// empty for kNone.
  virtual void bias_activation_backward(ConstTensorView kept, TensorView dy, TensorView dbias,
                                        Activation activation, Into into) = 0;
  /// y = activation(a + b); y may be a or b. Shapes: equal.
  virtual void add(ConstTensorView a, ConstTensorView b, TensorView y, Activation activation) = 0;
  /// y = x with some elements 0, y may be x. Backward is the same on dy. Shapes: equal.
  virtual void dropout(ConstTensorView x, TensorView y, const Dropout& dropout) = 0;
};

}  // namespace shoal::ops
