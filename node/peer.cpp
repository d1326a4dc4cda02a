#include "node/peer.h"

#include <utility>

#include "node/files.h"

namespace shoal::node {
namespace {

using comm::Offload;

/// Rounds, and time, that a leader may take to end the run before a peer that wishes so leaves
/// alone: on a busy machine the leader's process hears of the wish later than others.
constexpr std::uint64_t kStopRounds = 3;
constexpr Duration kStopWithin = std::chrono::seconds(2);
/// How long the last round's answers stay at others' disposal.
constexpr Duration kFinishWithin = std::chrono::seconds(10);
constexpr std::uint64_t kHashEvery = 10;

}  // namespace

Hash256 model_fingerprint(const PeerParts& parts) {
  Hasher hasher;
  hasher.add(parts.exchange->map().model_hash().span());
  hasher.add(parts.state->parameter_hash().span());
  return hasher.finish();
}

Peer::Peer(comm::Loop& loop, comm::Net& net, PeerParts parts, PeerOptions options)
    : loop_(loop),
      net_(net),
      options_(std::move(options)),
      dataset_(std::move(parts.dataset)),
      architecture_(std::move(parts.architecture)),
      exchange_(std::move(parts.exchange)),
      strategy_(std::move(parts.strategy)),
      answer_codec_(std::move(*parts.answer_codec)),
      pause_changed_(loop) {
  options_.worker.on_round = [this](const RoundReport& report) { on_round(report); };
  options_.worker.others = [this] { return !net_.alive_peers().empty(); };
  options_.worker.on_epoch = [this](const EpochReport& report) { metrics_->epoch(report); };
  worker_ = std::make_unique<Worker>(loop_, net_.self(), *strategy_, std::move(parts.builder),
                                     std::move(parts.state), std::move(parts.trainer),
                                     std::move(parts.data), std::move(*parts.codec), exchange_,
                                     options_.worker, options_.log);
  if (!options_.checkpoint_folder.empty()) {
    checkpoints_ =
        std::make_shared<Checkpoints>(options_.checkpoint_folder, net_.self().short_id());
  }
  make_group();
  options_.sources.group = [this] { return group_stats(); };
  metrics_ = std::make_unique<Metrics>(loop_, options_.metrics_file, options_.sources);
}

Peer::~Peer() {
  loop_.cancel_timer(leave_timer_);
  if (reporter_.has_value()) {
    loop_.cancel(*reporter_);
  }
  net_.set_receiver(nullptr);
}

void Peer::make_group() {
  group_ = std::make_unique<comm::GroupMean>(loop_, net_, *worker_, exchange_->map(), answer_codec_,
                                             options_.group, options_.log);
  worker_->attach(*group_, checkpoints_);
}

void Peer::request_stop() {
  if (!stop_asked_.has_value()) {
    worker_->request_stop();
    stop_asked_ = {worker_->applied_round(), loop_.now()};
    pause_changed_.notify();
    leave_in_time();
  }
}

void Peer::request_leave() {
  if (!worker_->leaving()) {
    worker_->request_leave();
    pause_changed_.notify();
    leave_in_time();
  }
}

/// A round that does not end must not keep us; what we contributed to it is lost then.
void Peer::leave_in_time() {
  if (!training_ || leave_timer_ != 0) {
    return;
  }
  leave_timer_ = loop_.add_timer(loop_.now() + kFinishWithin, [this] {
    if (training_) {
      group_->leave("interrupted");
    }
  });
}

void Peer::on_round(const RoundReport& report) {
  if (first_round_ == 0) {
    first_round_ = report.record.round;
  }
  const bool hashed = report.record.round % kHashEvery == 0;
  metrics_->round(report, hashed ? worker_->state().parameter_hash().hex() : std::string());
  if (options_.on_round) {
    options_.on_round(report);
  }
  if (stop_asked_.has_value() && report.record.round >= stop_asked_->round + kStopRounds &&
      loop_.now() >= stop_asked_->at + kStopWithin && !worker_->done()) {
    request_leave();
  }
}

void Peer::tick(const std::string& state) {
  status_ = metrics_->tick(state);
  if (options_.on_status) {
    options_.on_status(status_);
  }
}

comm::Task<void> Peer::report() {
  for (;;) {
    tick(worker_->standing_still() ? "paused" : state_);
    const Status flushed = co_await metrics_->flush();
    if (!flushed.ok()) {
      options_.log.warning(flushed.error().message);
    }
    co_await loop_.sleep_for(options_.status_every);
  }
}

/// Puts the state of the agreed checkpoint in place.
Result<std::optional<ResumePoint>> Peer::resume(std::optional<std::uint64_t> round) {
  if (!round.has_value()) {
    return std::optional<ResumePoint>();
  }
  SHOAL_CHECK(checkpoints_ != nullptr, "a peer that resumes has checkpoints");
  SHOAL_ASSIGN(const Checkpoints::Loaded loaded, checkpoints_->read(*round));
  SHOAL_TRY(worker_->resume(loaded.shared, loaded.point.round));
  if (!loaded.own.has_value()) {
    options_.log.warning("this peer's own part of the checkpoint is missing: its carry is lost");
  } else {
    SHOAL_TRY(worker_->load_private(loaded.own->span()));
  }
  return std::optional<ResumePoint>(loaded.point);
}

comm::Task<Status> Peer::begin(PeerStart start) {
  net_.set_receiver(group_.get());
  auto point = resume(start.resume_round.has_value() ? start.resume_round : options_.resume_round);
  if (!point.ok()) {
    co_return point.error();
  }
  if (start.first_view.has_value()) {
    const std::uint64_t round = point->has_value() ? (*point)->round : 0;
    const Hash256 parent = point->has_value() ? (*point)->parent : Hash256{};
    group_->start(start.branch, *start.first_view, round, parent);
    for (const auto& [from, message] : start.early) {
      group_->on_message(from, message);
    }
    co_return Status();
  }
  state_ = "entering";
  auto entered = co_await group_->enter(1);
  if (!entered.ok()) {
    co_return entered.error();
  }
  options_.log.info("entered the run at round " + std::to_string(*entered));
  co_return Status();
}

comm::Task<Status> Peer::train(PeerStart start) {
  Status begun = co_await begin(std::move(start));
  if (!begun.ok()) {
    co_return begun;
  }
  for (;;) {
    state_ = "training";
    training_ = true;
    Status trained = co_await strategy_->train(*worker_);
    training_ = false;
    if (!trained.ok() || !worker_->pausing()) {
      co_return trained;
    }
    Status back = co_await pause();
    if (!back.ok() || leaving()) {
      co_return back;
    }
  }
}

comm::Task<Status> Peer::write_model() {
  if (options_.model_file.empty()) {
    co_return Status();
  }
  auto job = [file = options_.model_file, bytes = worker_->state().save_model()] {
    return write_file(file, bytes.span());
  };
  co_return co_await loop_.offload(Offload::kIo, job, Duration{0});
}

/// The last acts of a peer whose training ended well.
comm::Task<void> Peer::wind_up(PeerSummary& summary) {
  state_ = "saving";
  if (!away_) {
    const Status saved = co_await worker_->checkpoint();
    if (!saved.ok()) {
      options_.log.warning("no checkpoint at the end: " + saved.error().message);
    }
  }
  if (worker_->leaving()) {
    group_->leave("it was asked to");
    summary.status = "left";
  } else {
    summary.status = worker_->stopped_by_wish() ? "stopped" : "done";
  }
  state_ = "evaluating";
  auto test = co_await worker_->evaluate();
  if (test.ok()) {
    summary.test_loss = test->mean_loss();
    summary.test_accuracy = test->accuracy();
  } else {
    options_.log.warning("no test figures: " + test.error().message);
  }
  if (const Status written = co_await write_model(); !written.ok()) {
    summary.status = "failed";
    summary.error = "the run is over, but its model could not be kept: " + written.error().message +
                    "; mend that and take it up with --resume";
    summary.exit_code = exit_code(written.error().code);
  }
  if (!worker_->leaving()) {
    co_await group_->finish(kFinishWithin);
  }
}

void Peer::fill(PeerSummary& summary) const {
  const comm::LinkStats totals = options_.sources.totals();
  const Progress& progress = worker_->state().progress;
  summary.id = net_.self().hex();
  summary.name = options_.name;
  summary.first_round = first_round_;
  summary.rounds = progress.round;
  summary.steps = progress.steps;
  summary.samples = progress.samples;
  summary.train_loss = metrics_->train_loss();
  summary.wall_s = metrics_->since_start();
  summary.bytes_sent = totals.bytes_sent;
  summary.bytes_received = totals.bytes_received;
  summary.parameter_hash = worker_->state().parameter_hash().hex();
  if (const auto reached = worker_->target_reached(); reached.has_value()) {
    summary.target_reached_s = metrics_->since_start() - seconds(loop_.now() - *reached);
  }
  const comm::GroupStats stats = group_stats();
  summary.left_out = stats.left_out;
  summary.repairs = stats.repairs;
  summary.recoveries = stats.recoveries;
  summary.residuals_lost = stats.residuals_lost;
  summary.counted_out = metrics_->counted_out();
  summary.dropped = options_.sources.dropped();
}

comm::Task<PeerSummary> Peer::run(PeerStart start) {
  reporter_ = loop_.spawn(report());
  PeerSummary summary;
  const Status trained = co_await train(std::move(start));
  if (trained.ok()) {
    co_await wind_up(summary);
  } else if (trained.error().code == Code::kCancelled) {
    summary.status = "left";
  } else {
    summary.status = "failed";
    summary.error = trained.error().message;
    summary.exit_code = exit_code(trained.error().code);
    metrics_->event("failed", summary.error);
    group_->leave("it failed: " + summary.error);
  }
  loop_.cancel(*std::exchange(reporter_, std::nullopt));
  tick(summary.status);
  fill(summary);
  const Status flushed = co_await metrics_->flush();
  if (!flushed.ok()) {
    options_.log.warning(flushed.error().message);
  }
  co_return summary;
}

}  // namespace shoal::node
