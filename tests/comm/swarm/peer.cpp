#include "tests/comm/swarm/peer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace shoal::comm::tests {
namespace {

Duration compute_time(std::size_t index, std::uint64_t round) {
  return std::chrono::milliseconds(3 + mix(index, round) % 8);
}

bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a == 0 && b == 0);
}

}  // namespace

Swarm::Peer::Peer(Swarm& swarm, std::size_t index, std::uint64_t session)
    : swarm_(swarm),
      index_(index),
      loop_(swarm.net_->add(swarm.id(index)), nullptr),
      session_(
          loop_,
          [&] {
            SessionOptions o;
            o.facts.run = 77;
            o.facts.model_hash = swarm.map_.model_hash();
            o.name = "peer" + std::to_string(index);
            o.draw_session = [next = session]() mutable { return next++ * 0x10000 + 1; };
            return o;
          }(),
          SessionHandlers{}, Log{}),
      group_(loop_, session_, *this, swarm.map_, CodecChoice(swarm.answer_codec_),
             swarm.options_.group, Log{}),
      state_(static_cast<std::size_t>(swarm.map_.flat_size()), 0.0F),
      total_(state_.size(), 0.0),
      weights_(static_cast<std::size_t>(swarm.map_.granule_count()), 0.0),
      expected_carry_(state_.size(), 0.0F),
      expected_velocity_(state_.size(), 0.0F),
      expected_pending_(weights_.size(), 0.0) {
  session_.set_receiver(&group_);
  swarm.net_->attach(swarm.id(index), loop_);
}

Swarm::Peer::~Peer() { swarm_.net_->detach(swarm_.id(index_)); }

void Swarm::Peer::start(const View& view) {
  group_.start(7, view, 0, Hash256{});
  loop_.spawn(work(false));
}

void Swarm::Peer::enter() {
  judged_ = true;
  loop_.spawn(work(true));
}

GroupHost::ControlInput Swarm::Peer::control(std::uint64_t round) {
  return {{0.5 * static_cast<double>(round)}, false, swarm_.may_stop(round)};
}

std::optional<Bytes> Swarm::Peer::snapshot() {
  return Bytes::copy_of(std::as_bytes(std::span(state_)));
}

Status Swarm::Peer::restore(const Bytes& snapshot, std::uint64_t round) {
  if (snapshot.size() != state_.size() * sizeof(float)) {
    return data_error("a snapshot of another size");
  }
  std::memcpy(state_.data(), snapshot.data(), snapshot.size());
  applied_ = round;
  return {};
}

std::optional<Hash256> Swarm::Peer::state_hash() {
  return hash_of(std::as_bytes(std::span(state_)));
}

Task<void> Swarm::Peer::work(bool joiner) {
  if (joiner) {
    const auto entered = co_await group_.enter(1);
    if (!entered.ok()) {
      result_ = "enter: " + entered.error().message;
      co_return;
    }
  }
  co_await rounds();
}

Task<void> Swarm::Peer::rounds() {
  std::string result;
  while (result.empty()) {
    const std::uint64_t round = group_.next_round();
    const auto x = swarm_.input(index_, round);
    co_await loop_.sleep_for(compute_time(index_, round));
    co_await group_.settled();
    expect(x);
    auto mean = co_await next_mean(x);
    if (!mean.ok()) {
      result = mean.error().message;
      break;
    }
    if (mean->restored) {
      judged_ = false;  // a contribution may be void now: from here its carry is its own affair
    } else {
      apply(*mean);
    }
    ending_ = ending_ || mean->record.stop;
    result = ending_ && !group_.owed() ? "done" : "";
  }
  co_await group_.finish(std::chrono::seconds(20));
  result_ = result;
}

Task<Result<Mean>> Swarm::Peer::next_mean(const std::vector<float>& x) {
  const CodecChoice codec(swarm_.codec_);
  return ending_ ? group_.flush(codec) : group_.mean(x, kWeight, codec);
}

void Swarm::Peer::apply(const Mean& mean) {
  swarm_.judge_mean(*this, mean);
  for (const auto& run : mean.divisors) {
    for (std::uint64_t g = run.granules.begin; g < run.granules.end; ++g) {
      weights_[g] += run.weight;
      for (std::size_t i = g * kGranule; i < (g + 1) * kGranule; ++i) {
        state_[i] += mean.values[i];
        total_[i] += std::round(static_cast<double>(mean.values[i]) * run.weight);
      }
    }
  }
  applied_ = mean.record.round;
}

/// What mean() is about to contribute, if it contributes: s = fl(fl(w x) + carry), with momentum
/// s = fl(fl(fl(m u) + fl(w x)) + carry); in a flush what waits in granules with pending weight.
void Swarm::Peer::expect(const std::vector<float>& x) {
  const auto& stats = group_.stats();
  judged_ = judged_ && stats.repairs == 0 && stats.forks == 0 &&
            group_.committed_round() + 1 == group_.next_round();
  if (!judged_) {
    return;
  }
  const float momentum = swarm_.codec_->properties().momentum;
  std::vector<float> s(x.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (ending_) {
      s[i] = expected_pending_[i / kGranule] > 0 ? expected_carry_[i] : 0;
    } else {
      const float weighted = static_cast<float>(kWeight) * x[i];
      const float kept = momentum * expected_velocity_[i];
      const float moved = momentum > 0 ? kept + weighted : weighted;
      s[i] = moved + expected_carry_[i];
    }
  }
  const MemberId me{swarm_.id(index_), session_.own_session()};
  swarm_.sums_[{{group_.branch(), group_.next_round()}, me}] = s;
  sum_ = {group_.next_round(), ending_, std::move(s), group_.codec_state()};
}

void Swarm::Peer::committed(const RoundRecord& record) {
  swarm_.judge_commit(*this, record);
  // What an owner's answers lost comes home to its carry when its granules move.
  const bool moved =
      !swarm_.answer_codec_->properties().lossless && record.next_view != record.view;
  judged_ = judged_ && !moved && group_.stats().repairs == 0 && group_.stats().forks == 0;
  if (judged_ && sum_ && sum_->round == record.round) {
    settle_expected(record);
    compare_carry(record.round);
  }
  sum_.reset();
}

void Swarm::Peer::settle_expected(const RoundRecord& record) {
  const auto me = record.view.index_of(MemberId{swarm_.id(index_), session_.own_session()});
  if (!me) {
    return;
  }
  if (std::exchange(dropped_, group_.stats().dropped) != group_.stats().dropped) {
    std::fill(expected_carry_.begin(), expected_carry_.end(), 0.0F);
    std::fill(expected_velocity_.begin(), expected_velocity_.end(), 0.0F);
    std::fill(expected_pending_.begin(), expected_pending_.end(), 0.0);
    swarm_.judge_dropped(*this, record, *me);
    return;
  }
  const auto state = swarm_.codec_->make_state(swarm_.map_, 0);
  ByteReader saved(sum_->codec_state.span());
  if (state && !state->load(saved).ok()) {
    swarm_.problem("the codec's state is no state");
  }
  const compress::CodecContext context{
      .run_seed = swarm_.options_.group.run_seed, .round = record.round, .state = state.get()};
  const float decay = swarm_.codec_->properties().carry_decay;
  for (std::size_t p = 0; p < record.view.size(); ++p) {
    const Range part = record.view.part(p);
    const auto begin = static_cast<std::size_t>(part.begin * kGranule);
    const auto count = static_cast<std::size_t>(part.size() * kGranule);
    const auto& in = record.contributors[p];
    const auto s = std::span<const float>(sum_->s).subspan(begin, count);
    std::vector<float> sent(count, 0.0F);
    const bool counted =
        std::find(in.begin(), in.end(), static_cast<std::uint16_t>(*me)) != in.end();
    if (counted) {
      ByteWriter w;
      const auto encoded =
          compress::encode_granules(*swarm_.codec_, swarm_.map_, part, s, context, w);
      const auto decoded =
          compress::decode_granules(*swarm_.codec_, swarm_.map_, part, context, w.span(), 1, sent);
      if (!encoded.ok() || !decoded.ok()) {
        swarm_.problem("the codec refuses what the peer sent");
      }
    }
    for (std::uint64_t g = part.begin; g < part.end; ++g) {
      double& pending = expected_pending_[g];
      if (sum_->flush && (pending == 0 || !counted)) {
        continue;  // nothing was said of it, or it waits on
      }
      for (std::size_t i = g * kGranule; i < (g + 1) * kGranule; ++i) {
        const float y = sent[i - begin];
        const float moved = s[i - begin] - expected_carry_[i];
        expected_velocity_[i] = y != 0 ? 0 : sum_->flush ? expected_velocity_[i] : moved;
        const float lost = s[i - begin] - y;
        expected_carry_[i] = counted ? decay * lost : s[i - begin];
      }
      pending = counted ? 0 : pending + kWeight;
    }
  }
}

void Swarm::Peer::compare_carry(std::uint64_t round) {
  const auto carry = group_.carry().values();
  for (std::size_t i = 0; i < carry.size(); ++i) {
    if (!same_bits(carry[i], expected_carry_[i])) {
      swarm_.problem("round " + std::to_string(round) + ": the carry of peer " +
                     std::to_string(index_) + " is " + std::to_string(carry[i]) + " at element " +
                     std::to_string(i) + ", expected " + std::to_string(expected_carry_[i]));
      return;
    }
  }
  const auto pending = group_.carry().pending();
  if (!std::equal(pending.begin(), pending.end(), expected_pending_.begin())) {
    swarm_.problem("round " + std::to_string(round) + ": the pending weight of peer " +
                   std::to_string(index_) + " is not what it should be");
  }
}

}  // namespace shoal::comm::tests
