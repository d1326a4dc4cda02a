#pragma once

#include <cstdint>

#include "ops/device/types.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// How cross-entropy is taken.
struct CrossEntropy {
  double scale = 1;          ///< of gradients
  double smoothing = 0;      ///< share of each label that is spread over all classes
  std::int32_t ignored = 0;  ///< a label that counts for nothing, when `ignores`
  bool ignores = false;
};

/// Losses, forward and backward in one pass over each row. Shapes: loss [N], correct [N] i32; a
/// gradient may lie where the output does, or be empty: not wanted.
class LossOps : public virtual DeviceOps {
 public:
  /// Per row: loss = -sum_c target_c log softmax(logits)_c, where target is the label's onehot,
  /// smoothed; correct = (argmax == label, first of equals);
  /// dlogits = scale * (softmax - target). Of an ignored row all are 0, and correct is -1.
  /// Shapes: logits [N, C], labels [N] i32, ignored or in [0, C) (judged by the caller).
  virtual void softmax_cross_entropy(ConstTensorView logits, ConstTensorView labels,
                                     const CrossEntropy& options, TensorView dlogits,
                                     TensorView loss, TensorView correct) = 0;
  /// Per row: loss = mean of (output - target)^2; doutput = scale * its slope.
  /// Shapes: output, targets [N, C].
  virtual void squared_error(ConstTensorView output, ConstTensorView targets, double scale,
                             TensorView doutput, TensorView loss) = 0;
  /// Per row: loss = mean of -t log s(x) - (1 - t) log(1 - s(x)), s the sigmoid; correct = whether
  /// all x > 0 where t > 1/2 and only there; dlogits = scale * (s(x) - t) / C.
  /// Shapes: logits, targets [N, C].
  virtual void binary_cross_entropy(ConstTensorView logits, ConstTensorView targets, double scale,
                                    TensorView dlogits, TensorView loss, TensorView correct) = 0;
};

}  // namespace shoal::ops
