#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/peer.h"
#include "tests/node/support/mesh.h"

namespace shoal::node::tests {

/// Peers that train together over a mesh, by default on 512 synthetic samples in reproducible mode.
class Team {
 public:
  /// `settings` are "key=value" as on a command line; `adjust` may change the i-th peer's own.
  Team(
      std::size_t peers, const std::vector<std::string>& settings,
      const std::function<void(std::size_t, std::vector<std::string>&, PeerOptions&)>& adjust = {});

  /// Runs all to their end (those killed left out) within an hour of virtual time.
  void run();
  /// Runs until `done`. Fails the test when it does not come about.
  void run_until(const std::function<bool()>& done);

  Mesh mesh;
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::optional<PeerSummary>> summaries;
  std::set<std::size_t> killed;
  void kill(std::size_t i);
  /// What each peer said of each round.
  std::vector<std::vector<RoundReport>> reports;

 private:
  void begin();
  bool begun_ = false;
  std::uint64_t granules_ = 0;
};

}  // namespace shoal::node::tests
