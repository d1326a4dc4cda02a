#include "node/data/partition.h"

#include "node/data/registry.h"
#include "ops/base/check.h"
#include "ops/find_entry.h"

namespace shoal::node {
namespace {

bool is_partition(const Partition& parts, std::size_t samples) {
  std::vector<bool> held(samples, false);
  std::size_t count = 0;
  for (const auto& part : parts) {
    if (part.empty()) {
      return false;
    }
    for (const std::uint32_t index : part) {
      if (index >= samples || held[index]) {
        return false;
      }
      held[index] = true;
      ++count;
    }
  }
  return count == samples;
}

}  // namespace

const std::vector<PartitionEntry>& partition_registry() {
  static const std::vector<PartitionEntry> entries = {
      iid_partition(),
      natural_partition(),
  };
  return entries;
}

Result<Partition> make_partition(std::string_view name, const Options& options,
                                 const PartitionRequest& request) {
  SHOAL_ASSIGN(const PartitionEntry* entry,
               ops::find_entry(partition_registry(), &PartitionEntry::name, "partition", name));
  if (request.parts == 0 || request.parts > request.labels.size()) {
    return config_error("data.parts is " + std::to_string(request.parts) + ", but there are " +
                        std::to_string(request.labels.size()) +
                        " samples, and each part needs one");
  }
  SHOAL_ASSIGN(Partition parts, entry->make(options, request));
  SHOAL_CHECK(parts.size() == request.parts && is_partition(parts, request.labels.size()),
              "parts are disjoint, not empty, and hold every sample");
  return parts;
}

Hash256 partition_hash(const Partition& partition) {
  Hasher hasher;
  hasher.add_u64(partition.size());
  for (const auto& part : partition) {
    hasher.add_u64(part.size());
    hasher.add(std::as_bytes(std::span(part)));
  }
  return hasher.finish();
}

}  // namespace shoal::node
