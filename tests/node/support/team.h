#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/memory_network.h"
#include "node/peer_host.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {

/// Peers that train together in a memory network, by default on 512 synthetic samples in
/// reproducible mode. The code is that of a real peer; only time and the network are not.
class Team {
 public:
  /// What a test may change of the i-th peer.
  struct Changes {
    std::vector<std::string> settings;  ///< "key=value" as on a command line
    std::string checkpoint_folder;
    std::string metrics_file = "/dev/null";
    std::string model_file;
    std::optional<std::uint64_t> resume_round;
    std::vector<std::uint64_t> held;  ///< rounds to agree on one of
    bool poisoned = false;            ///< its samples are NaN
    bool prefetch = false;            ///< batches known ahead are filled at once
  };
  /// The last `late` of the peers stay away until `join`; the run begins without them.
  Team(std::size_t peers, const std::vector<std::string>& settings,
       const std::function<void(std::size_t, Changes&)>& adjust = {}, std::size_t late = 0);
  ~Team();
  /// The configuration of one of them.
  static Config config(std::size_t peers, std::size_t part,
                       const std::vector<std::string>& settings);

  /// Runs all to their end (those killed left out) within an hour of virtual time.
  void run();
  /// Runs until `done`. Fails the test when it does not come about.
  void run_until(const std::function<bool()>& done);
  void kill(std::size_t i);
  void join(std::size_t i);

  [[nodiscard]] comm::MemoryNetwork& network() { return network_; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] static comm::PeerId id(std::size_t i);
  [[nodiscard]] PeerHost& host(std::size_t i);
  [[nodiscard]] const SharedState& state(std::size_t i);
  /// Buffers of the model that it computes with.
  [[nodiscard]] std::vector<float> own_buffers(std::size_t i) const;
  [[nodiscard]] std::uint64_t ready_batches(std::size_t i) const;

  std::vector<std::optional<PeerSummary>> summaries;
  std::vector<std::vector<RoundReport>> reports;  ///< what each peer said of each round
  std::set<std::size_t> killed;

 private:
  struct Member;
  void add(std::size_t i, std::size_t count, const Changes& changes);
  void begin(std::size_t i);

  comm::MemoryNetwork network_;
  std::vector<std::unique_ptr<Member>> members_;
  std::size_t late_;
  bool begun_ = false;
};

/// The value of a result; fails the test when there is none.
template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? std::string() : result.error().message));
  REQUIRE(result.ok());
  return std::move(result).value();
}

/// Fails unless every peer that was not killed is done, with equal parameters.
void require_equal_replicas(const Team& team);

}  // namespace shoal::node::tests
