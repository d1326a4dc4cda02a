#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/codec_choice.h"
#include "comm/limits.h"
#include "comm/loop.h"
#include "comm/net.h"
#include "comm/round/codec_state.h"
#include "comm/round/reducer.h"
#include "comm/view.h"
#include "compress/codec.h"
#include "compress/error_feedback.h"
#include "ops/base/log.h"

namespace shoal::comm {

/// What a committed round decided, the same on every member.
struct RoundRecord {
  std::uint64_t round = 0;
  Hash256 hash;  ///< chained on all rounds before
  View view;     ///< the round's
  View next_view;
  std::vector<std::vector<std::uint16_t>> contributors;  ///< per part, member indices of `view`
  std::vector<std::vector<std::uint16_t>> skipped;       ///< likewise: had nothing to say
  std::vector<double> scalars;
  bool checkpoint = false;
  bool stop = false;

  /// Whether a member's contribution is in at least one part.
  [[nodiscard]] bool included(std::size_t member) const;
  /// Whether a member of the next view may hold weight that no committed round has counted: it is
  /// new there, or some part's owner has heard neither a contribution nor a "nothing" of it.
  [[nodiscard]] bool owed() const;
};

/// What `mean()` gives back.
struct Mean {
  RoundRecord record;
  /// The weighted mean over the contributors, flat_size() floats, bit-identical on all members.
  /// Empty when `restored`.
  std::vector<float> values;
  std::vector<compress::WeightRun> divisors;  ///< weight behind each granule
  /// The host's state was replaced by the group's: what the caller computed on the old one is
  /// void, and so is this call; go on from the restored state at round record.round + 1.
  bool restored = false;
};

/// Who owns the replicated state (parameters, outer optimizer, ledger). Called on the loop.
class GroupHost {
 public:
  struct ControlInput {
    std::vector<double> scalars;
    bool checkpoint = false;
    bool stop = false;
  };
  virtual ~GroupHost() = default;
  /// What the leader says about a round beside the means.
  virtual ControlInput control(std::uint64_t round) = 0;
  /// The last round whose mean was applied; 0 before the first.
  [[nodiscard]] virtual std::uint64_t applied_round() const = 0;
  /// The replicated state as of applied_round(); nothing while it is being changed.
  virtual std::optional<Bytes> snapshot() = 0;
  /// Replaces the replicated state by one as of `round`.
  virtual Status restore(const Bytes& snapshot, std::uint64_t round) = 0;
  /// Hash of the replicated state as of applied_round(); nothing while it is being changed.
  virtual std::optional<Hash256> state_hash() = 0;
  /// A round was committed: contributions, leases and checkpoints may be settled. Called once a
  /// round, in order, also for rounds that this member caught up with.
  virtual void committed(const RoundRecord& record) = 0;
};

/// What happens when fewer than a majority of a view are left.
enum class Quorum { kMajority, kAny };

struct GroupOptions {
  std::uint64_t run_seed = 0;
  Quorum quorum = Quorum::kMajority;
  /// Wait for every member that is not proved dead, whatever its pace.
  bool reproducible = false;
  /// One set of contributors for all parts of a round, the same on all members of a run: who is
  /// late for one owner is left out of every part. Costs nothing while nobody is late; else one
  /// more ballot, in which all parts are reduced again.
  bool atomic = false;
  /// Stretches every learnt deadline; the one knob for patience.
  double patience = 1;
  /// Longest time without any progress before mean() gives up with kNetwork.
  Duration give_up = limits::kPatience;
  GuardOptions guard;
  /// What encoding and decoding takes in virtual time.
  std::function<compress::CodecCost(const compress::Codec&)> codec_cost = &compress::nominal_cost;
};

/// Where a group whose owners answer with such a codec may cut a model; holds on to both.
MayCut cuts_of(std::shared_ptr<const compress::Codec> answer_codec,
               std::shared_ptr<const ParamMap> map);

/// Counters and losses that people should hear of.
struct GroupStats {
  std::uint64_t rounds = 0;
  std::uint64_t recoveries = 0;                  ///< ballots above 0 that this member led
  std::uint64_t left_out = 0;                    ///< part contributions of ours that waited a round
  std::uint64_t dropped = 0;                     ///< contributions of ours that the group refused
  std::uint64_t repairs = 0;                     ///< times our state was replaced by the group's
  std::uint64_t forks = 0;                       ///< times we went alone on a new branch
  std::map<std::string, std::uint64_t> refused;  ///< by reason, contributions we refused
  std::map<std::string, std::uint64_t> encoded;  ///< by codec, parts sent and answers given
  /// Of rounds whose codecs were picked by cost: what was predicted of encoding, transfer and
  /// decoding, and what they took, waiting for others included.
  double predicted_s = 0;
  double achieved_s = 0;
  /// Sentences: whose, granules, why. The last limits::kLossesKept of them.
  std::vector<std::string> residuals_lost;
};

/// Weighted mean over a group by the direct two-hop exchange: every member sends each owner its
/// encoded part, each owner reduces its part once, in member order, and sends everyone one encoded
/// answer, which the owner too decodes. Rounds are decided by votes (README.md, "A round"): once
/// more than half of a view hold the same answers, no other answers can be committed for that
/// round. Views, leaders, deaths, joiners and repairs are all handled in here.
/// Threads: the loop's only; encoding and reducing are offloaded to the codec thread.
/// Cost: per member 2(n-1)/n model sizes sent and received, two one-way latencies in a steady
/// round.
class GroupMean final : public Net::Receiver {
 public:
  /// Copies the map: what is on the codec thread may outlive the group and the model. Where the
  /// answers' codec has replicated state, all members' contributions are by the same codec.
  GroupMean(Loop& loop, Net& net, GroupHost& host, const ParamMap& map, CodecChoice answer_codec,
            GroupOptions options, Log log);
  ~GroupMean() override;
  GroupMean(const GroupMean&) = delete;
  GroupMean& operator=(const GroupMean&) = delete;

  /// Begins a run: all first members call it with the same view. `committed` and `parent` are 0 for
  /// a new run, or the agreed round of a resumed one; a resumed run opens a new branch.
  void start(std::uint64_t branch, View first_view, std::uint64_t committed_round, Hash256 parent);
  /// Enters a running run: asks to be admitted, gets the state through host.restore(). Returns the
  /// round that is committed then.
  /// Errors: kNetwork when nobody admits us for options.give_up, or sends the state for as long
  /// after the last request.
  Task<Result<std::uint64_t>> enter(double speed);

  /// Contributes x (flat_size() floats) with a weight (samples behind it, 0 = "count me out") and
  /// returns the group's mean of the round. What was left out of earlier rounds comes along; with
  /// weight 0 it is sent alone.
  /// Errors: kNetwork when the majority is lost for longer than options.give_up; kCancelled after
  /// `leave()`. A contribution that is not finite is counted out and reported, not an error.
  Task<Result<Mean>> mean(std::span<const float> x, double weight, CodecChoice codec);

  /// Whether samples of some member may be in no mean yet, as of the last returned round: the same
  /// on every member, since the round's record says it. At the end of a run all members call
  /// `flush()` while it is so; false after limits::kFlushRounds of them in a row, and what still
  /// waits then is reported by stats() and kept by save_private().
  [[nodiscard]] bool owed() const;
  /// A round without new samples: `mean()` of what this member still owes, if anything.
  /// Errors: as mean().
  Task<Result<Mean>> flush(CodecChoice codec);

  /// Waits until the last returned round is committed: contributions of it are settled then and a
  /// checkpoint of it may be written. False when it did not stand, or its fate stayed unknown for
  /// options.give_up; the next mean() restores the state.
  Task<bool> settled();
  /// Waits until the last returned round is committed and every living member can do without us
  /// (bounded by `linger`), then says goodbye.
  Task<void> finish(Duration linger);
  /// Says goodbye at once: the others go on without us; a pending mean() ends with kCancelled.
  void leave(const std::string& reason);

  /// The view of the round that `mean()` would contribute to next.
  [[nodiscard]] const View& view() const;
  [[nodiscard]] std::uint64_t branch() const;
  /// The next round `mean()` will take part in.
  [[nodiscard]] std::uint64_t next_round() const;
  [[nodiscard]] std::uint64_t committed_round() const;
  [[nodiscard]] Hash256 committed_hash() const;
  /// Samples behind all committed rounds of this branch.
  [[nodiscard]] double committed_work() const;
  [[nodiscard]] const GroupStats& stats() const;
  /// What this member owes and the residual of the parts it reduces, settled to the last committed
  /// round: the private part of a checkpoint. Save it from within GroupHost::committed().
  [[nodiscard]] const compress::Carry& carry() const;
  [[nodiscard]] std::span<const float> owner_residual() const;
  void save_private(ByteWriter& out) const;
  /// Before start(). Errors: kData.
  [[nodiscard]] Status load_private(ByteReader& in);
  /// The replicated state of the answers' codec as the last committed round left it, empty when it
  /// has none: the part of a checkpoint that is the same on all members.
  [[nodiscard]] Bytes codec_state() const;
  /// Before start(), on all members alike. Errors: kData.
  [[nodiscard]] Status load_codec_state(ByteSpan bytes);

  void on_message(const PeerId& from, const Message& message) override;
  void on_alive(const PeerId& peer, bool alive) override;

 private:
  class Engine;  // comm/round/: the protocol itself
  std::unique_ptr<Engine> engine_;
};

}  // namespace shoal::comm
