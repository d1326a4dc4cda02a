#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/group_mean.h"
#include "comm/memory_network.h"
#include "comm/session.h"

namespace shoal::comm::tests {

struct SwarmOptions {
  std::uint64_t seed = 1;
  std::size_t peers = 3;
  std::uint64_t elements = 3 * kGranule + 100;
  /// Instead of one tensor of so many elements.
  std::vector<std::vector<std::int64_t>> tensors;
  std::uint64_t rounds = 4;
  std::string codec = "fp32";
  std::string answer_codec = "fp32";
  bool wire = true;                ///< messages pass through encode_header() and decode()
  bool wait_for_laggards = false;  ///< the run goes on until everybody has caught up
  GroupOptions group;
  MemoryLink link;
  /// Changes what a peer brings to a round.
  std::function<void(std::size_t peer, std::uint64_t round, std::vector<float>& x)> distort;
};

/// Peers that average integer-valued inputs round after round in the memory network, and a judge
/// that follows them: commits are unique, carries are what the arithmetic says to the bit, sums
/// balance, replicas and states of codecs are equal, nobody stays stuck.
class Swarm {
 public:
  explicit Swarm(SwarmOptions options);
  ~Swarm();
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  MemoryNetwork& net() { return *net_; }
  [[nodiscard]] PeerId id(std::size_t i) const;
  [[nodiscard]] std::size_t index(const PeerId& peer) const;

  /// Starts a process under the i-th identity that enters the running run.
  void join(std::size_t i);
  void crash(std::size_t i) { net_->crash(id(i)); }
  /// Silently changes the i-th peer's replicated state, as broken memory would.
  void corrupt(std::size_t i);

  /// Runs until every living peer has ended; then judges. Sentences, empty when all is well.
  std::vector<std::string> run(Duration limit = std::chrono::seconds(300));

  [[nodiscard]] std::uint64_t messages() const { return net_->message_count(); }
  [[nodiscard]] bool finished(std::size_t i) const;
  /// The replicated state of a peer: the sum of all means it applied.
  [[nodiscard]] const std::vector<float>& state(std::size_t i) const;
  [[nodiscard]] const GroupMean& group(std::size_t i) const;
  /// Whether every sample that these peers brought to all rounds is in exactly one mean that the
  /// first of them applied: sums per element and weights per granule.
  [[nodiscard]] bool balances(const std::vector<std::size_t>& peers, std::uint64_t rounds) const;
  [[nodiscard]] std::uint64_t applied(std::size_t i) const;
  [[nodiscard]] TimePoint ended_at() const { return ended_; }
  /// The input of a peer in a round: whole numbers in [-8, 8], distorted as the options say.
  [[nodiscard]] std::vector<float> input(std::size_t i, std::uint64_t round) const;
  [[nodiscard]] const ParamMap& map() const { return map_; }

  static constexpr double kWeight = 2;

 private:
  class Peer;
  friend class Peer;
  using RoundKey = std::pair<std::uint64_t, std::uint64_t>;  // branch, round

  Peer& launch(std::size_t i);
  void connect_all();
  [[nodiscard]] bool everybody_done() const;
  [[nodiscard]] bool may_stop(std::uint64_t round) const;
  void judge_commit(const Peer& peer, const RoundRecord& record);
  void judge_mean(const Peer& peer, const Mean& mean);
  void judge_dropped(const Peer& peer, const RoundRecord& record, std::size_t member);
  void judge_end();
  void problem(std::string sentence) { problems_.push_back(std::move(sentence)); }

  SwarmOptions options_;
  ParamMap map_;
  std::shared_ptr<const compress::Codec> codec_;
  std::shared_ptr<const compress::Codec> answer_codec_;
  std::unique_ptr<MemoryNetwork> net_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::unique_ptr<Peer>> graveyard_;
  std::map<RoundKey, Hash256> commits_;
  std::map<RoundKey, Hash256> codec_states_;                          ///< after each commit
  std::map<std::pair<RoundKey, MemberId>, std::vector<float>> sums_;  ///< s of each contribution
  std::vector<std::string> problems_;
  TimePoint ended_;
};

}  // namespace shoal::comm::tests
