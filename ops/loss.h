#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/backend.h"
#include "ops/base/options.h"
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
  /// Shapes: output [..., C], doutput alike (empty: not wanted, may be `output`); targets on the
  /// host, [...] i32 for classes, [..., C] f32 for numbers. All dimensions but the last are
  /// samples: images, or tokens of sequences. doutput = scale * d(sum of losses)/d(output): scale
  /// 1/samples gives the mean. Samples that are ignored are not counted.
  /// Errors: kData for targets of another number or type, or out of range; kDevice.
  [[nodiscard]] virtual Result<BatchResult> evaluate(Backend& backend, ConstTensorView output,
                                                     ConstTensorView targets, double scale,
                                                     TensorView doutput) = 0;
};

/// One line of the registry.
struct LossEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Loss> (*make)(const Options& options);
  bool classes = true;  ///< targets are integers; else numbers, as many as outputs
};

/// "softmax-cross-entropy", "mean-squared-error", "binary-cross-entropy" (targets in [0, 1]).
/// Source: smoothed labels as in Szegedy et al., arXiv 1512.00567, section 7.
const std::vector<LossEntry>& loss_registry();

/// Errors: kConfig with the nearest name; an option that is not there or out of range.
Result<std::unique_ptr<Loss>> make_loss(
    std::string_view name, const std::vector<std::pair<std::string, OptionValue>>& options = {});

}  // namespace shoal::ops
