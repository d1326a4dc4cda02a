#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/options.h"
#include "ops/base/result.h"
#include "ops/layer.h"

namespace shoal::node {

enum class Split : std::uint8_t { kTrain, kTest };

/// What a batch is filled with.
struct Pick {
  Split split = Split::kTrain;
  std::span<const std::uint32_t> indices;
  /// Random changes of a training sample (crop, flip) draw from (run's seed, step, index) alone.
  std::uint64_t step = 0;
};

/// Samples with targets. Opening one reads headers and labels, which partitions need; features are
/// read by `hold`, so that a peer with a private part holds that part only.
/// Threads: `hold` alone; const methods on any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Samples of a split, held or not.
  [[nodiscard]] virtual std::uint32_t size(Split split) const = 0;
  /// One sample as a model takes it: reals or tokens.
  [[nodiscard]] virtual const ops::Port& input() const = 0;
  /// What is to be predicted of one sample: a class (rank 0, an index) unless said otherwise,
  /// tokens ([T], an index), or reals.
  [[nodiscard]] virtual const ops::Port& target() const;
  /// What a loss counts in one sample: 1, or its tokens.
  [[nodiscard]] std::size_t predictions() const;
  /// Width of a prediction: classes, tokens of the vocabulary, or reals of a target.
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  /// A number of each sample of a split for partitions that cut by class, in [0, classes()); all 0
  /// where samples have no class.
  [[nodiscard]] virtual std::span<const std::int32_t> labels(Split split) const = 0;
  /// Who each training sample is from (a device, a document), counted from 0 without gaps; empty
  /// where nobody is known.
  [[nodiscard]] virtual std::span<const std::uint32_t> holders() const { return {}; }

  /// Memory that holding `count` samples takes, bytes; for the preview of what joining costs.
  [[nodiscard]] virtual std::uint64_t held_bytes(std::uint64_t count) const = 0;
  /// Reads these samples (in any order) and lets go of others of the split.
  /// Errors: kData for a file that ends early or an index past the end.
  [[nodiscard]] virtual Status hold(Split split, std::span<const std::uint32_t> indices) = 0;
  /// Reads the whole split.
  [[nodiscard]] Status hold_all(Split split);

  /// The samples named, in that order. Shapes: x [indices, input()...], targets [indices,
  /// target()...], both on the host, i32 where the port is an index, else f32. Errors: kData for a
  /// sample that is not held. Requires: views of those sizes and types (checked).
  [[nodiscard]] Status fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const;

 protected:
  /// `fill`, its views judged.
  [[nodiscard]] virtual Status do_fill(const Pick& pick, ops::TensorView x,
                                       ops::TensorView targets) const = 0;
};

/// Type of a port's numbers on the host.
[[nodiscard]] inline ops::DType dtype_of(const ops::Port& port) {
  return port.index ? ops::DType::kI32 : ops::DType::kF32;
}

/// One line of the registry.
struct DatasetEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  /// Errors: kData, naming the file, what was expected and how to get it; kConfig for options that
  /// do not fit the data.
  Result<std::unique_ptr<Dataset>> (*open)(const Options& options, std::uint64_t seed);
};

const std::vector<DatasetEntry>& dataset_registry();

/// Errors: kConfig with the nearest name; else as `open`.
Result<std::unique_ptr<Dataset>> open_dataset(std::string_view name, const Options& options,
                                              std::uint64_t seed);

}  // namespace shoal::node
