#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "comm/group_mean.h"
#include "comm/loop.h"
#include "comm/net.h"
#include "node/metrics.h"
#include "node/peer_parts.h"
#include "node/summary.h"
#include "node/worker.h"
#include "ops/base/log.h"

namespace shoal::node {

/// What a peer is told beside what it trains.
struct PeerOptions {
  std::string name;
  std::uint64_t seed = 0;
  comm::GroupOptions group;
  WorkerOptions worker;
  Duration status_every = std::chrono::seconds(1);
  std::filesystem::path metrics_file;
  std::filesystem::path model_file;         ///< empty: the model is not written
  std::filesystem::path checkpoint_folder;  ///< empty: no checkpoints
  std::optional<std::uint64_t> resume_round;
  std::function<void(const PeerStatus&)> on_status;
  std::function<void(const RoundReport&)> on_round;
  MetricSources sources;  ///< `group` is filled in by the peer
  Log log;
};

/// Options as the configuration says them, for a peer that computes on such a device.
PeerOptions peer_options(const Config& config, ops::DeviceKind device);

/// How a peer begins: with the first view of a run, or by entering one that is under way.
struct PeerStart {
  std::optional<comm::View> first_view;  ///< nothing: enter
  std::uint64_t branch = 0;              ///< of the first view
  /// Of the checkpoint to go on from, instead of PeerOptions'.
  std::optional<std::uint64_t> resume_round;
  /// What others sent before we were told of it.
  std::vector<std::pair<comm::PeerId, comm::Message>> early;
};

/// The hash that peers of one run compare before the first step: the parameter space and the
/// parameters that the seed gives.
Hash256 model_fingerprint(const PeerParts& parts);

/// One peer of a group from its first round to its summary: everything but the network, which may
/// be any. Threads: the loop.
class Peer {
 public:
  Peer(comm::Loop& loop, comm::Net& net, PeerParts parts, PeerOptions options);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Trains to the end and says how it went; never fails otherwise.
  comm::Task<PeerSummary> run(PeerStart start);

  /// The run is to end: as leader with the next round, a checkpoint beside it; else this peer
  /// leaves when the leader has not done so for a few rounds.
  void request_stop();
  /// Leaves after the round at hand, with a checkpoint of its own; the others go on.
  void request_leave();
  /// Whether this peer is to work at all. One that pauses leaves the group within a few rounds and
  /// enters it again when it may go on; the last member of a group stands still instead.
  void set_paused(bool paused);

  [[nodiscard]] const Worker& worker() const { return *worker_; }
  [[nodiscard]] const comm::GroupMean& group() const { return *group_; }
  [[nodiscard]] const PeerStatus& status() const { return status_; }

 private:
  [[nodiscard]] Result<std::optional<ResumePoint>> resume(std::optional<std::uint64_t> round);
  comm::Task<Status> begin(PeerStart start);
  comm::Task<Status> train(PeerStart start);
  comm::Task<Status> pause();
  comm::Task<Status> come_back(const Bytes& own);
  void make_group();
  [[nodiscard]] comm::GroupStats group_stats() const;
  [[nodiscard]] bool leaving() const { return worker_->leaving() || stop_asked_.has_value(); }
  comm::Task<void> wind_up(PeerSummary& summary);
  comm::Task<Status> write_model();
  comm::Task<void> report();
  void leave_in_time();
  void on_round(const RoundReport& report);
  void tick(const std::string& state);
  void fill(PeerSummary& summary) const;

  comm::Loop& loop_;
  comm::Net& net_;
  PeerOptions options_;
  std::shared_ptr<Dataset> dataset_;
  std::shared_ptr<const ops::Architecture> architecture_;
  std::shared_ptr<const ExchangeSpace> exchange_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<Worker> worker_;
  comm::CodecChoice answer_codec_;
  std::unique_ptr<comm::GroupMean> group_;
  comm::GroupStats past_stats_;  // of the groups before a pause
  std::unique_ptr<Metrics> metrics_;
  std::shared_ptr<Checkpoints> checkpoints_;
  PeerStatus status_;
  std::string state_ = "starting";
  std::uint64_t first_round_ = 0;
  struct StopAsked {
    std::uint64_t round = 0;
    TimePoint at;
  };
  std::optional<StopAsked> stop_asked_;
  bool training_ = false;
  bool away_ = false;  // out of the group for a pause
  comm::Signal pause_changed_;
  std::uint64_t leave_timer_ = 0;
  std::optional<comm::Loop::TaskId> reporter_;
};

}  // namespace shoal::node
