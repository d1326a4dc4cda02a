#pragma once

#include <memory>

#include "node/peer_parts.h"

namespace shoal::node::tests {

/// Points around as many centres as there are classes: learnt by a small net in a few epochs, the
/// same for equal arguments.
std::unique_ptr<Dataset> synthetic(std::uint32_t train, std::uint32_t test, std::uint64_t seed);

inline constexpr std::int64_t kFeatures = 12;
inline constexpr std::int64_t kClasses = 4;

/// What a test peer trains with.
struct PartsRequest {
  std::string strategy = "allreduce";
  std::vector<std::pair<std::string, OptionValue>> strategy_options;
  std::vector<std::pair<std::string, OptionValue>> optimizer_options;
  std::uint64_t batch = 64;
  std::uint64_t epochs = 2;
  double lr = 0.05;
  std::uint32_t train = 512;
  std::int64_t hidden = 16;
  std::string codec = "fp32";
  std::uint64_t seed = 7;
  /// Private mode with this many parts, of which `part` is the peer's; 0: shared mode.
  std::uint32_t parts = 0;
  std::uint32_t part = 0;
  std::shared_ptr<Dataset> dataset;  ///< instead of the synthetic one
  std::vector<std::int64_t> layers;  ///< instead of kFeatures, hidden, kClasses
};
PeerParts make_parts(const PartsRequest& request);

}  // namespace shoal::node::tests
