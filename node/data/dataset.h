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

/// Labelled samples. Opening one reads headers and labels, which partitions need; features are
/// read by `hold`, so that a peer with a private part holds that part only.
/// Threads: `hold` alone; const methods on any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Samples of a split, held or not.
  [[nodiscard]] virtual std::uint32_t size(Split split) const = 0;
  /// Shape of one sample as a model takes it.
  [[nodiscard]] virtual const ops::Port& input() const = 0;
  /// Reals of one sample.
  [[nodiscard]] std::size_t features() const { return input().shape.elements(); }
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  /// Labels of all samples of a split, each in [0, classes()).
  [[nodiscard]] virtual std::span<const std::int32_t> labels(Split split) const = 0;

  /// Memory that holding `count` samples takes, bytes; for the preview of what joining costs.
  [[nodiscard]] virtual std::uint64_t held_bytes(std::uint64_t count) const = 0;
  /// Reads the features of these samples (in any order, no duplicates) and lets go of others of
  /// the split. Errors: kData for a file that ends early or an index past the end.
  [[nodiscard]] virtual Status hold(Split split, std::span<const std::uint32_t> indices) = 0;
  /// Reads the whole split.
  [[nodiscard]] Status hold_all(Split split);

  /// Features and labels of the samples named. Shapes: x [indices, features] row-major, labels
  /// [indices]. Errors: kData for a sample that is not held. Requires: spans of those sizes
  /// (checked).
  [[nodiscard]] virtual Status fill(Split split, std::span<const std::uint32_t> indices,
                                    std::span<float> x, std::span<std::int32_t> labels) const = 0;
};

/// One line of the registry.
struct DatasetEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  /// Errors: kData, naming the file, what was expected and how to get it.
  Result<std::unique_ptr<Dataset>> (*open)(const Options& options, std::uint64_t seed);
};

const std::vector<DatasetEntry>& dataset_registry();

/// Errors: kConfig with the nearest name; kData as `open`.
Result<std::unique_ptr<Dataset>> open_dataset(std::string_view name, const Options& options,
                                              std::uint64_t seed);

}  // namespace shoal::node
