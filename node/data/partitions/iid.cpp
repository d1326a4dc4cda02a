#include <algorithm>

#include "node/data/permutation.h"
#include "node/data/registry.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x696964;

/// A seeded shuffle cut into parts whose sizes differ by at most one.
Result<Partition> make_iid(const Options& /*options*/, const PartitionRequest& request) {
  const std::uint64_t samples = request.labels.size();
  const Permutation order(mix(request.seed, kDomain), 0, samples);
  Partition parts(request.parts);
  for (std::uint64_t p = 0; p < request.parts; ++p) {
    const std::uint64_t begin = samples * p / request.parts;
    const std::uint64_t end = samples * (p + 1) / request.parts;
    for (std::uint64_t i = begin; i < end; ++i) {
      parts[p].push_back(static_cast<std::uint32_t>(order.at(i)));
    }
    std::sort(parts[p].begin(), parts[p].end());
  }
  return parts;
}

}  // namespace

PartitionEntry iid_partition() { return {"iid", "equal parts of a seeded shuffle", {}, make_iid}; }

}  // namespace shoal::node
