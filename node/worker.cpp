#include "node/worker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/norm.h"

namespace shoal::node {
namespace {

using comm::Offload;

/// Rounds in a row to which nobody could contribute before we call it divergence.
constexpr std::uint64_t kBarrenMax = 5;

bool all_finite(std::span<const float> x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

/// Epochs whose samples are all seen.
std::uint64_t epochs_seen(const SharedState& state) {
  return state.ledger.seen_total() / state.ledger.samples();
}

Error step_error(const comm::RoundRecord& record) {
  return network_error("the leader of round " + std::to_string(record.round) + " sent " +
                       std::to_string(record.scalars.size()) +
                       " numbers for the optimizer, which takes 3 that are finite");
}

}  // namespace

/// This member's part of the next round's data.
struct Worker::Part {
  std::uint64_t round = 0;
  comm::View view;
  std::vector<std::uint32_t> samples;
  std::uint64_t first_step = 0;
  /// What the round behind it will probably ask for, and as of which step.
  std::vector<std::uint32_t> next;
  std::uint64_t next_step = 0;
};

Worker::Worker(comm::Loop& loop, comm::PeerId self, const Strategy& strategy, StateBuilder builder,
               std::shared_ptr<SharedState> state, std::shared_ptr<Trainer> trainer,
               std::unique_ptr<WorkerData> data, comm::CodecChoice codec,
               std::shared_ptr<const ExchangeSpace> exchange, WorkerOptions options, Log log)
    : loop_(loop),
      self_(self),
      strategy_(strategy),
      builder_(std::move(builder)),
      state_(std::move(state)),
      trainer_(std::move(trainer)),
      data_(std::move(data)),
      codec_(std::move(codec)),
      exchange_(std::move(exchange)),
      options_(std::move(options)),
      log_(std::move(log)),
      pause_changed_(loop),
      pace_(options_.share),
      last_checkpoint_(loop.now()) {}

void Worker::attach(comm::GroupMean& group, std::shared_ptr<Checkpoints> checkpoints) {
  group_ = &group;
  checkpoints_ = std::move(checkpoints);
}

bool Worker::done() const { return leaving_ || pausing_ || (ended() && !group_->owed()); }

/// Whether no new samples are worked on.
bool Worker::ended() const {
  return stopped_ || state_->ledger.exhausted() ||
         (options_.steps_max > 0 && state_->progress.steps >= options_.steps_max);
}

std::uint64_t Worker::round_samples(const comm::View& view) const {
  return ended() ? 0 : strategy_.round_samples(view.size());
}

bool Worker::stopped_by_wish() const {
  const bool target = options_.target_accuracy > 0 || options_.target_loss > 0;
  return stopped_ && (wished_ || !target);
}

Duration Worker::cost(std::size_t samples) const {
  return options_.sample_cost * static_cast<std::int64_t>(samples);
}

Result<Worker::Part> Worker::part() {
  Part part{group_->next_round(), group_->view(), {}, state_->progress.steps, {}, 0};
  const auto index = part.view.index_of(self_);
  if (!index.has_value()) {
    return part;  // not a member now: mean() lets us in again
  }
  Ledger ledger = state_->ledger;  // what is leased here counts once the round does
  SHOAL_ASSIGN(const auto ranges,
               ledger.assign(part.round, shares_of(part.view), round_samples(part.view)));
  part.samples = data_->samples(ranges[*index]);
  if (trainer_->prefetches()) {
    guess_next(std::move(ledger), *index, part);
  }
  return part;
}

/// As if everybody contributes and the view stands; a wrong guess costs a batch filled in vain.
void Worker::guess_next(Ledger ledger, std::size_t index, Part& part) const {
  RoundOutcome outcome{part.round, {}, {}, {}};
  for (const comm::Member& member : part.view.members) {
    outcome.members.push_back(member.id);
    outcome.included.push_back(true);
    outcome.next.push_back(member.id);
  }
  if (!ledger.settle(outcome).ok()) {
    return;
  }
  const auto ranges = ledger.assign(part.round + 1, shares_of(part.view), round_samples(part.view));
  if (ranges.ok()) {
    part.next = data_->peek((*ranges)[index]);
    part.next_step = part.first_step + strategy_.round_steps();
  }
}

bool Worker::stands(const Part& part) const {
  return group_->next_round() == part.round && group_->view() == part.view;
}

/// Does a job on this member's part, again when the view has changed meanwhile.
comm::Task<Result<Contribution>> Worker::work(Job job) {
  for (;;) {
    if (ended()) {
      co_return Contribution{};
    }
    auto out = std::make_shared<Contribution>();
    if (co_await stand_still()) {
      out->x.resize(static_cast<std::size_t>(exchange_->map().flat_size()));
      co_return std::move(*out);
    }
    auto part = this->part();
    if (!part.ok()) {
      co_return part.error();
    }
    Status worked = co_await do_part(job, *part, out);
    if (!worked.ok()) {
      co_return worked.error();
    }
    if (stands(*part)) {
      co_return std::move(*out);
    }
  }
}

/// One piece after the other, with rests between them when this peer may not work all the time.
comm::Task<Status> Worker::do_part(Job job, Part part, std::shared_ptr<Contribution> out) {
  const auto fixed = std::make_shared<const Part>(std::move(part));
  bool over = false;
  for (bool first = true; !over; first = false) {
    if (const TimePoint before = loop_.now(); before < pace_.next()) {
      co_await loop_.sleep_until(pace_.next());
      out->rest += loop_.now() - before;
    }
    const TimePoint began = loop_.now();
    auto on_thread = [job, out, fixed, first, began, trainer = trainer_, state = state_,
                      exchange = exchange_, version = version_, piece = pace_.piece(),
                      clock = &loop_.endpoint()]() -> Result<bool> {
      if (first) {
        trainer->load(version, state->parameters, state->buffers);
      }
      const auto more = [&] { return clock->now() - began < piece; };
      auto ended = job(*trainer, *state, *fixed, *out, more);
      if (ended.ok() && *ended) {
        std::vector<float> buffers(state->buffers.size());
        if (exchange->has_buffers()) {
          trainer->read_buffers(buffers);
        }
        exchange->put(buffers, out->x);
        out->finite = all_finite(out->x);
      }
      return ended;
    };
    auto ended = co_await loop_.offload(Offload::kCompute, on_thread, cost(fixed->samples.size()));
    if (!ended.ok()) {
      co_return ended.error();
    }
    over = *ended;
    out->compute += loop_.now() - began;
    pace_.worked(loop_.now(), loop_.now() - began);
  }
  co_return Status();
}

comm::Task<Result<Contribution>> Worker::gradient() {
  return work([](Trainer& trainer, const SharedState& state, const Part& part, Contribution& out,
                 const std::function<bool()>& /*more*/) -> Result<bool> {
    out.x.resize(state.parameters.size());
    const Upcoming next{part.next, part.next_step};
    SHOAL_ASSIGN(out.result, trainer.gradient(part.samples, part.first_step, out.x, next));
    return true;
  });
}

comm::Task<Result<Contribution>> Worker::local_steps(std::uint64_t batch, ops::Schedule schedule) {
  // The inner rate needs no agreement: what it leads to differs from peer to peer anyhow.
  return work([batch, schedule](Trainer& trainer, const SharedState& state, const Part& part,
                                Contribution& out,
                                const std::function<bool()>& more) -> Result<bool> {
    const std::span<const std::uint32_t> samples(part.samples);
    while (out.worked < samples.size()) {
      const std::size_t begin = out.worked;
      const std::uint64_t step = part.first_step + begin / batch;
      const std::size_t count = std::min<std::size_t>(batch, samples.size() - begin);
      const auto rest = samples.subspan(begin + count);
      const Upcoming next =
          rest.empty() ? Upcoming{part.next, part.next_step} : Upcoming{rest, step + 1};
      const std::size_t most = std::min<std::size_t>(batch, next.samples.size());
      SHOAL_ASSIGN(const ops::BatchResult one,
                   trainer.local_step(samples.subspan(begin, count), step, schedule.at(step),
                                      {next.samples.first(most), next.step}));
      out.result += one;
      out.worked += count;
      if (out.worked < samples.size() && !more()) {
        return false;
      }
    }
    out.x.resize(state.parameters.size());
    trainer.read_parameters(out.x);
    for (std::size_t i = 0; i < out.x.size(); ++i) {
      out.x[i] = state.parameters[i] - out.x[i];
    }
    return true;
  });
}

comm::Task<Status> Worker::exchange(Contribution contribution, double clip) {
  double weight = static_cast<double>(contribution.result.samples);
  if (!contribution.finite) {
    weight = 0;
    log_.warning("round " + std::to_string(group_->next_round()) +
                 ": this peer's own numbers are not finite; it counts itself out");
  }
  finite_ = contribution.finite;
  const TimePoint asked = loop_.now();
  const Duration codec_before = codec_busy();
  auto mean = co_await group_->mean(contribution.x, weight, codec_);
  if (!mean.ok()) {
    co_return mean.error();
  }
  if (mean->restored) {
    stopped_ = stopped_ || mean->record.stop;
    log_.info("the group's state was taken over at round " +
              std::to_string(state_->progress.round));
    co_return Status();
  }
  RoundReport report;
  report.record = mean->record;
  report.exchange = loop_.now() - asked;
  report.codec = std::min(codec_busy() - codec_before, report.exchange);
  report.compute = contribution.compute;
  report.rest = contribution.rest;
  report.result = contribution.result;
  report.counted_out = !contribution.finite;
  const std::uint64_t epochs_before = epochs_seen(*state_);
  const TimePoint applying = loop_.now();
  Status applied = co_await apply(std::move(*mean), clip);
  if (!applied.ok()) {
    co_return applied;
  }
  report.apply = loop_.now() - applying;
  report.progress = state_->progress;
  report.epoch = epochs_seen(*state_);
  if (options_.on_round) {
    options_.on_round(report);
  }
  pausing_ = !ended() && may_pause(report.record.round);
  if (report.record.checkpoint && !done()) {
    Status saved = co_await checkpoint();
    if (!saved.ok()) {
      log_.warning("no checkpoint of round " + std::to_string(report.record.round) + ": " +
                   saved.error().message);
    }
  }
  if (report.epoch != epochs_before && !done()) {
    co_return co_await end_epoch();
  }
  co_return Status();
}

Duration Worker::codec_busy() const {
  return options_.codec_busy ? options_.codec_busy() : Duration{0};
}

comm::Task<Status> Worker::apply(comm::Mean mean, double clip) {
  const comm::RoundRecord& record = mean.record;
  const bool sane =
      record.scalars.size() == 3 && std::all_of(record.scalars.begin(), record.scalars.end(),
                                                [](double v) { return std::isfinite(v); });
  if (!sane) {
    co_return step_error(record);
  }
  const bool barren = std::all_of(record.contributors.begin(), record.contributors.end(),
                                  [](const auto& part) { return part.empty(); });
  auto job = [state = state_, exchange = exchange_, values = std::move(mean.values),
              divisors = std::move(mean.divisors), clip, barren,
              scalars = ops::StepScalars{record.scalars[0], record.scalars[1],
                                         record.scalars[2]}]() mutable {
    exchange->take(values, divisors, state->buffers);
    if (barren) {
      return;  // the mean of nobody is no step, whatever the momentum
    }
    if (clip > 0) {
      ops::clip_norm(values, clip);
    }
    state->optimizer->step(scalars, state->parameters, values);
  };
  const auto before = state_;
  changing_ = true;
  const TimePoint began = loop_.now();
  co_await loop_.offload(Offload::kCompute, job, cost(1));
  pace_.worked(loop_.now(), loop_.now() - began);
  if (state_ != before) {
    co_return Status();  // replaced by the group's meanwhile
  }
  changing_ = false;
  ++version_;
  Status advanced = advance(*state_, record);
  if (!advanced.ok()) {
    co_return advanced;
  }
  stopped_ = stopped_ || record.stop;
  const std::uint64_t rounds = state_->progress.barren;
  const bool in_vain = ended() && state_->progress.steps == 0;  // of so few rounds
  if (rounds > 0 && (rounds >= kBarrenMax || in_vain) && !finite_) {
    co_return internal_error("training has diverged: in " + std::to_string(rounds) +
                             " rounds no peer had finite numbers; lower train.lr or set a clip");
  }
  co_return Status();
}

Status Worker::advance(SharedState& state, const comm::RoundRecord& record) const {
  RoundOutcome outcome{record.round, {}, {}, {}};
  for (std::size_t i = 0; i < record.view.size(); ++i) {
    outcome.members.push_back(record.view.members[i].id);
    outcome.included.push_back(record.included(i));
  }
  for (const comm::Member& member : record.next_view.members) {
    outcome.next.push_back(member.id);
  }
  const bool late = ended();  // a round for what was left out of earlier ones
  SHOAL_ASSIGN(const auto ranges, state.ledger.assign(record.round, shares_of(record.view),
                                                      round_samples(record.view)));
  SHOAL_ASSIGN(const Ledger::Settled settled, state.ledger.settle(outcome));
  std::uint64_t seen = 0;
  for (const DataRange& r : settled.seen) {
    seen += r.range.size();
  }
  state.progress.round = record.round;
  state.progress.steps += seen == 0 || late ? 0 : strategy_.round_steps();
  state.progress.samples += seen;
  state.progress.barren = seen == 0 && !late ? state.progress.barren + 1 : 0;
  return {};
}

comm::Task<Result<ops::BatchResult>> Worker::evaluate() {
  auto job = [trainer = trainer_, state = state_, version = version_] {
    trainer->load(version, state->parameters, state->buffers);
    return trainer->evaluate();
  };
  const TimePoint began = loop_.now();
  auto result = co_await loop_.offload(Offload::kCompute, job, cost(1));
  pace_.worked(loop_.now(), loop_.now() - began);
  co_return result;
}

comm::Task<Status> Worker::end_epoch() {
  // One member judges, so that the others only wait for the time of one evaluation.
  if (group_->view().members.empty() || group_->view().members.front().id.peer != self_) {
    co_return Status();
  }
  auto result = co_await evaluate();
  if (!result.ok()) {
    co_return result.error();
  }
  const EpochReport report{epochs_seen(*state_), result->mean_loss(), result->accuracy()};
  const bool accurate =
      options_.target_accuracy > 0 && report.test_accuracy >= options_.target_accuracy;
  const bool low = options_.target_loss > 0 && report.test_loss <= options_.target_loss;
  if ((accurate || low) && !target_reached_.has_value()) {
    target_reached_ = loop_.now();
    stop_requested_ = true;
  }
  if (options_.on_epoch) {
    options_.on_epoch(report);
  }
  co_return Status();
}

}  // namespace shoal::node
