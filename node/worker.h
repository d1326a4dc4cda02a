#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/group_mean.h"
#include "node/checkpoint.h"
#include "node/exchange_space.h"
#include "node/pace.h"
#include "node/shared_state.h"
#include "node/sync/strategy.h"
#include "node/trainer.h"
#include "node/worker_data.h"
#include "ops/base/log.h"

namespace shoal::node {

/// What one member brings to a round.
struct Contribution {
  std::vector<float> x;  ///< a mean over `samples`, over the exchanged space; empty: nothing new
  ops::BatchResult result;
  std::size_t worked = 0;  ///< samples of its part that local steps have been through
  bool finite = true;
  Duration compute{0};
  Duration rest{0};  ///< before it, for what limits allow
};

/// What a round was for this member; for metrics and the live table.
struct RoundReport {
  comm::RoundRecord record;
  Progress progress;
  std::uint64_t epoch = 0;
  ops::BatchResult result;  ///< of this member's own samples
  Duration compute{0};      ///< gradients or local steps
  Duration rest{0};         ///< held back by limits
  Duration exchange{0};     ///< from the contribution to the mean
  Duration codec{0};        ///< of that, the codec thread encoded, reduced, decoded; else we waited
  Duration apply{0};        ///< the shared optimizer's step
  bool counted_out = false;  ///< its own numbers were not finite
};

/// Test figures at the end of an epoch, taken by the leader.
struct EpochReport {
  std::uint64_t epoch = 0;
  double test_loss = 0;
  double test_accuracy = 0;
};

struct WorkerOptions {
  std::uint64_t steps_max = 0;   ///< 0: no bound
  double target_accuracy = 0;    ///< 0: none
  double target_loss = 0;        ///< 0: none
  Duration checkpoint_every{0};  ///< 0: only at the end
  double share = 1;              ///< of its time that the compute thread may work
  /// Time that one sample takes, for virtual time.
  Duration sample_cost = std::chrono::microseconds(20);
  std::function<void(const RoundReport&)> on_round;
  std::function<void(const EpochReport&)> on_epoch;
  /// Whether there are peers to be let in, for one that pauses as the last member.
  std::function<bool()> others;
  /// How long the codec thread was busy since the start; none in virtual time.
  std::function<Duration()> codec_busy;
};

/// The training of one peer: what strategies are written in terms of, and the keeper of the state
/// that its group holds alike. Computes on the compute thread, exchanges through `GroupMean`.
/// Threads: the loop.
class Worker final : public comm::GroupHost {
 public:
  Worker(comm::Loop& loop, comm::PeerId self, const Strategy& strategy, StateBuilder builder,
         std::shared_ptr<SharedState> state, std::shared_ptr<Trainer> trainer,
         std::unique_ptr<WorkerData> data, comm::CodecChoice codec,
         std::shared_ptr<const ExchangeSpace> exchange, WorkerOptions options, Log log);

  /// The group to exchange with, and where checkpoints go (null: nowhere). Before training.
  void attach(comm::GroupMean& group, std::shared_ptr<Checkpoints> checkpoints);

  // --- for strategies ---
  /// Whether training is over: the data are used up, a bound or target is reached, or a stop was
  /// agreed on, and no samples of any member wait for a round that counts them. The same on all
  /// members after the same round. The rounds for what waits have contributions without samples.
  [[nodiscard]] bool done() const;
  /// The mean gradient over this member's share of the next round.
  /// Errors: kData, kDevice.
  comm::Task<Result<Contribution>> gradient();
  /// From the shared parameters, local steps of `batch` samples through this member's share of the
  /// next round; phi - theta. Errors: kData, kDevice.
  comm::Task<Result<Contribution>> local_steps(std::uint64_t batch, ops::Schedule schedule);
  /// Takes the contribution to the group's mean and applies that to the shared state, the norm of
  /// the mean cut to `clip` (0: any). Writes the checkpoint when the round says so.
  /// Errors: as GroupMean::mean; kInternal when training has diverged.
  comm::Task<Status> exchange(Contribution contribution, double clip);

  // --- for the peer ---
  /// Loss and accuracy of the shared parameters on the test split. Errors: kData, kDevice.
  comm::Task<Result<ops::BatchResult>> evaluate();
  /// Writes a checkpoint of the last applied round, once that is committed.
  /// Errors: kData when it can't be written; kNetwork when the round did not stand.
  comm::Task<Status> checkpoint();
  /// As leader: end the run with the next round. Others: no effect.
  void request_stop();
  /// Training here ends with the round at hand; the others go on.
  void request_leave();
  [[nodiscard]] bool leaving() const { return leaving_; }
  /// Whether this peer wishes to pause. One that has others beside it leaves the group for that,
  /// one at a time, so that the group keeps its majority; the last stands still as a member.
  void wish_pause(bool wish);
  [[nodiscard]] bool pause_wished() const { return pause_wished_; }
  /// Training here has ended for a pause: the peer is to leave the group and to enter it later.
  [[nodiscard]] bool pausing() const { return pausing_; }
  void pause_over() { pausing_ = false; }
  /// Whether it stands still as the last member.
  [[nodiscard]] bool standing_still() const { return still_; }
  /// Whether the run ended before its data were used up, and not for a target.
  [[nodiscard]] bool stopped_by_wish() const;
  [[nodiscard]] std::optional<TimePoint> target_reached() const { return target_reached_; }
  [[nodiscard]] const SharedState& state() const { return *state_; }
  /// Puts the shared part of a checkpoint in place: leases end with the sessions that held them.
  /// Before training. Errors: kData.
  [[nodiscard]] Status resume(const Bytes& shared, std::uint64_t round);
  /// Puts the part of a checkpoint that is a peer's own in place. Before training. Errors: kData.
  [[nodiscard]] Status load_private(ByteSpan bytes);

  // --- GroupHost ---
  ControlInput control(std::uint64_t round) override;
  [[nodiscard]] std::uint64_t applied_round() const override { return state_->progress.round; }
  std::optional<Bytes> snapshot() override;
  Status restore(const Bytes& snapshot, std::uint64_t round) override;
  std::optional<Hash256> state_hash() override;
  void committed(const comm::RoundRecord& record) override;

 private:
  struct Part;
  /// A piece of work on a part, to be called until it says that it is over. `more` says whether
  /// another piece may begin at once.
  using Job = std::function<Result<bool>(Trainer&, const SharedState&, const Part& part,
                                         Contribution& out, const std::function<bool()>& more)>;
  comm::Task<Result<Contribution>> work(Job job);
  comm::Task<Status> do_part(Job job, Part part, std::shared_ptr<Contribution> out);
  comm::Task<bool> stand_still();
  [[nodiscard]] bool may_pause(std::uint64_t round) const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::uint64_t round_samples(const comm::View& view) const;
  [[nodiscard]] Result<Part> part();
  void guess_next(Ledger ledger, std::size_t index, Part& part) const;
  [[nodiscard]] bool stands(const Part& part) const;
  [[nodiscard]] Duration cost(std::size_t samples) const;
  [[nodiscard]] Status advance(SharedState& state, const comm::RoundRecord& record) const;
  [[nodiscard]] Duration codec_busy() const;
  comm::Task<Status> apply(comm::Mean mean, double clip);
  comm::Task<Status> end_epoch();
  void capture(std::uint64_t round, const Hash256& hash);
  comm::Task<Bytes> private_state();

  comm::Loop& loop_;
  comm::PeerId self_;
  const Strategy& strategy_;
  StateBuilder builder_;
  std::shared_ptr<SharedState> state_;
  std::shared_ptr<Trainer> trainer_;
  std::unique_ptr<WorkerData> data_;
  comm::CodecChoice codec_;
  std::shared_ptr<const ExchangeSpace> exchange_;
  WorkerOptions options_;
  Log log_;
  comm::GroupMean* group_ = nullptr;
  std::shared_ptr<Checkpoints> checkpoints_;

  std::uint64_t version_ = 0;    // of the shared parameters, as the trainer knows them
  bool changing_ = false;        // the state is being changed on the compute thread
  bool stop_requested_ = false;  // to be said as leader
  bool wished_ = false;          // by a person, not for a target
  bool stopped_ = false;         // a committed round said so
  bool leaving_ = false;
  bool pause_wished_ = false;
  bool pausing_ = false;
  bool still_ = false;
  bool finite_ = true;  // what we last contributed
  comm::Signal pause_changed_;
  Pace pace_;
  std::optional<TimePoint> target_reached_;
  TimePoint last_checkpoint_;
  std::uint64_t control_round_ = 0;
  ControlInput control_;
  ResumePoint point_;  // round that private_ was settled to
  Bytes private_;      // what the group holds of ours as of then
  Bytes codec_state_;  // replicated, as of then
};

}  // namespace shoal::node
