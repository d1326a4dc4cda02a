#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/hash.h"
#include "ops/base/options.h"
#include "ops/base/result.h"

namespace shoal::node {

/// What a partition is made from.
struct PartitionRequest {
  std::uint64_t seed = 0;
  std::uint32_t parts = 0;
  std::span<const std::int32_t> labels;  ///< of all samples; its size is the number of samples
  std::int64_t classes = 0;
  std::span<const std::uint32_t> holders;  ///< as Dataset::holders; empty: nobody is known
};

/// Sample indices of each part: disjoint, together all samples, none empty, each part sorted.
using Partition = std::vector<std::vector<std::uint32_t>>;

/// One line of the registry of partitions (private data mode, `data.partition`).
struct PartitionEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  /// Deterministic in the request and the options. Errors: kConfig when no such partition exists
  /// (more parts than samples).
  Result<Partition> (*make)(const Options& options, const PartitionRequest& request);
};

const std::vector<PartitionEntry>& partition_registry();

/// Errors: kConfig with the nearest name, or as PartitionEntry::make. What comes back was checked
/// to be a partition (a wrong one is our bug).
Result<Partition> make_partition(std::string_view name, const Options& options,
                                 const PartitionRequest& request);

/// Equal exactly when every part holds the same samples; recorded with results.
Hash256 partition_hash(const Partition& partition);

}  // namespace shoal::node
