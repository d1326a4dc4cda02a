#include "node/data/ledger.h"

#include <algorithm>
#include <set>

#include "comm/limits.h"
#include "ops/base/check.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kTotalMax = 1ULL << 31U;  // times a weight of 32 bits: fits in 64

std::uint64_t weight_sum(const std::vector<Share>& shares) {
  std::uint64_t sum = 0;
  for (const auto& share : shares) {
    sum += share.weight;
  }
  return sum;
}

/// Cuts `total` in proportion to the weights: whole parts first, then one each to the largest
/// remainders, the earlier of equals first. Integers only.
/// Requires: weights that are not all 0, or a total of 0.
std::vector<std::uint64_t> proportional(const std::vector<Share>& shares, std::uint64_t total) {
  const std::uint64_t sum = std::max<std::uint64_t>(1, weight_sum(shares));
  std::vector<std::uint64_t> counts(shares.size(), 0);
  std::vector<std::pair<std::uint64_t, std::size_t>> remainders;
  std::uint64_t left = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    counts[i] = total * shares[i].weight / sum;
    remainders.emplace_back(total * shares[i].weight % sum, i);
    left -= counts[i];
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t k = 0; k < remainders.size() && left > 0; ++k, --left) {
    ++counts[remainders[k].second];
  }
  return counts;
}

template <typename T>
bool has_duplicates(const std::vector<T>& items) {
  return std::set<T>(items.begin(), items.end()).size() != items.size();
}

}  // namespace

std::uint32_t share_weight(double speed) {
  constexpr double kMax = 1 << 24;
  const double scaled = speed * 1024;
  return scaled >= 1 ? static_cast<std::uint32_t>(std::min(scaled, kMax)) : 1;  // NaN gives 1
}

Ledger::Ledger(std::uint64_t samples, std::uint64_t epochs) : samples_(samples), epochs_(epochs) {
  SHOAL_CHECK(samples > 0 && samples < (1ULL << 32U) && epochs > 0 && epochs < (1ULL << 31U),
              "a ledger keeps samples and epochs");
  seen_[0] = 0;
}

std::vector<DataRange> Ledger::take(std::uint64_t count) {
  std::vector<DataRange> taken;
  while (count > 0 && !waiting_.empty()) {
    auto& [epoch, ranges] = *waiting_.begin();
    Range part = ranges.list().front();
    part.end = std::min(part.end, part.begin + count);
    ranges.remove(part);
    count -= part.size();
    taken.push_back({epoch, part});
    if (ranges.empty()) {
      waiting_.erase(waiting_.begin());
    }
  }
  const std::uint64_t fresh = std::min(count, samples_ - cursor_);
  if (fresh > 0) {
    taken.push_back({epoch_, {cursor_, cursor_ + fresh}});
    cursor_ += fresh;
  }
  return taken;
}

Result<std::vector<std::vector<DataRange>>> Ledger::assign(std::uint64_t round,
                                                           const std::vector<Share>& shares,
                                                           std::uint64_t total) {
  std::vector<comm::MemberId> members;
  members.reserve(shares.size());
  for (const auto& share : shares) {
    members.push_back(share.member);
  }
  if (assigned_ || round < round_ || shares.empty() || shares.size() > comm::limits::kMembersMax ||
      has_duplicates(members)) {
    return internal_error("data can't be leased for round " + std::to_string(round) + " after " +
                          std::to_string(round_) + (assigned_ ? ", which is not settled" : ""));
  }
  if (waiting_.empty() && cursor_ == samples_ && epoch_ + 1 < epochs_) {
    ++epoch_;
    cursor_ = 0;
    seen_[epoch_] = 0;
    forget_complete();
  }
  auto batch = take(weight_sum(shares) == 0 ? 0 : std::min({total, samples_, kTotalMax}));
  std::uint64_t size = 0;
  for (const auto& piece : batch) {
    size += piece.range.size();
  }
  const auto counts = proportional(shares, size);
  std::vector<std::vector<DataRange>> out(shares.size());
  std::size_t piece = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (std::uint64_t left = counts[i]; left > 0;) {
      DataRange& from = batch[piece];
      const std::uint64_t part = std::min(left, from.range.size());
      const DataRange mine{from.epoch, {from.range.begin, from.range.begin + part}};
      out[i].push_back(mine);
      leases_[shares[i].member].push_back({round, mine});
      from.range.begin += part;
      left -= part;
      piece += from.range.empty() ? 1 : 0;
    }
  }
  round_ = round;
  assigned_ = true;
  return out;
}

void Ledger::give_back(const DataRange& what) { waiting_[what.epoch].add(what.range); }

Result<Ledger::Settled> Ledger::settle(const RoundOutcome& outcome) {
  if (!assigned_ || outcome.round != round_ || outcome.included.size() != outcome.members.size() ||
      has_duplicates(outcome.members)) {
    return internal_error("round " + std::to_string(outcome.round) +
                          " can't be settled: data was leased for round " + std::to_string(round_));
  }
  Settled settled;
  for (std::size_t i = 0; i < outcome.members.size(); ++i) {
    const auto held = leases_.find(outcome.members[i]);
    if (!outcome.included[i] || held == leases_.end()) {
      continue;
    }
    for (const auto& lease : held->second) {
      seen_[lease.what.epoch] += lease.what.range.size();
      settled.seen.push_back(lease.what);
    }
    leases_.erase(held);
  }
  const std::set<comm::MemberId> staying(outcome.next.begin(), outcome.next.end());
  for (auto it = leases_.begin(); it != leases_.end();) {
    if (staying.contains(it->first)) {
      ++it;
      continue;
    }
    for (const auto& lease : it->second) {
      give_back(lease.what);
      settled.returned.push_back(lease.what);
    }
    it = leases_.erase(it);
  }
  forget_complete();
  assigned_ = false;
  ++round_;
  return settled;
}

void Ledger::forget_complete() {
  std::erase_if(seen_,
                [&](const auto& item) { return item.first != epoch_ && item.second == samples_; });
}

std::uint64_t Ledger::seen(std::uint64_t epoch) const {
  const auto it = seen_.find(epoch);
  return it != seen_.end() ? it->second : epoch < epoch_ ? samples_ : 0;
}

std::uint64_t Ledger::seen_total() const {
  std::uint64_t total = samples_ * (epoch_ + 1 - seen_.size());
  for (const auto& [epoch, count] : seen_) {
    total += count;
  }
  return total;
}

std::vector<DataRange> Ledger::leases_of(const comm::MemberId& member) const {
  std::vector<DataRange> out;
  if (const auto it = leases_.find(member); it != leases_.end()) {
    for (const auto& lease : it->second) {
      out.push_back(lease.what);
    }
  }
  return out;
}

bool Ledger::exhausted() const {
  return waiting_.empty() && cursor_ == samples_ && epoch_ + 1 == epochs_;
}

void Ledger::return_all() {
  for (const auto& [member, leases] : leases_) {
    for (const auto& lease : leases) {
      give_back(lease.what);
    }
  }
  leases_.clear();
  assigned_ = false;
}

}  // namespace shoal::node
