#include <algorithm>

#include "node/data/permutation.h"
#include "node/data/registry.h"
#include "ops/base/check.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x6e61747572616c;

/// Each part gets whole holders, as many as any other give or take one, drawn by the seed.
Result<Partition> make_natural(const Options& /*options*/, const PartitionRequest& request) {
  const auto& of = request.holders;
  if (of.empty()) {
    return config_error(
        "data.partition is natural, but nobody is known to hold the samples of this data set");
  }
  SHOAL_CHECK(of.size() == request.labels.size(), "every sample has a holder");
  const std::uint64_t holders = std::uint64_t{*std::max_element(of.begin(), of.end())} + 1;
  if (request.parts > holders) {
    return config_error("data.parts is " + std::to_string(request.parts) +
                        ", but the samples are from " + std::to_string(holders) +
                        ", and each part needs one of them");
  }
  const Permutation order(mix(request.seed, kDomain), 0, holders);
  std::vector<std::uint64_t> part_of(holders);
  for (std::uint64_t position = 0; position < holders; ++position) {
    part_of[order.at(position)] = position % request.parts;
  }
  Partition parts(request.parts);
  for (std::uint32_t i = 0; i < of.size(); ++i) {
    parts[part_of[of[i]]].push_back(i);
  }
  return parts;
}

}  // namespace

PartitionEntry natural_partition() {
  return {"natural", "whole devices or documents, where the data set knows them", {}, make_natural};
}

}  // namespace shoal::node
