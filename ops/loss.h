#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/backend.h"
#include "ops/saved.h"

namespace shoal::ops {

/// Sums over samples (or tokens), so that results of micro-batches and peers just add up.
struct BatchResult {
  double loss_sum = 0;
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;

  BatchResult& operator+=(const BatchResult& other);
  [[nodiscard]] double mean_loss() const;  ///< 0 without samples
  [[nodiscard]] double accuracy() const;   ///< 0 without samples
};

/// A loss at the end of a model. Scratch memory is its own; gradients go where it is told.
/// Threads: the compute thread.
class Loss {
 public:
  virtual ~Loss() = default;
  /// Whether outputs of this shape (without batch) can be judged. Errors: kConfig.
  [[nodiscard]] virtual Status check(const Shape& output) const = 0;
  /// Shapes: output [N, C], targets [N] i32 on the host, doutput [N, C] (empty: not wanted, may be
  /// `output`). doutput = scale * d(sum of losses)/d(output): scale 1/N gives the mean.
  /// Errors: kData for a target out of range; kDevice.
  [[nodiscard]] virtual Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                                     ConstTensorView targets, double scale,
                                                     TensorView doutput) = 0;
};

/// One line of the registry.
struct LossEntry {
  std::string name;
  std::string help;
  std::unique_ptr<Loss> (*make)();
};

/// "softmax-cross-entropy": softmax and cross-entropy in one pass, forward and backward.
const std::vector<LossEntry>& loss_registry();

/// Errors: kConfig with the nearest name.
Result<std::unique_ptr<Loss>> make_loss(std::string_view name);

}  // namespace shoal::ops
