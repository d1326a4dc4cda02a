#include <algorithm>

#include "comm/limits.h"
#include "node/data/ledger.h"

/// A ledger as bytes: little-endian, every list with its length before it.
namespace shoal::node {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kRangesMax = comm::limits::kRunsMax;

Error damaged(const char* what) {
  return data_error(std::string("the data ledger ") + what +
                    "; it is damaged or of another version");
}

void put(ByteWriter& out, const DataRange& what) {
  out.put(what.epoch);
  out.put(what.range.begin);
  out.put(what.range.end);
}

bool get(ByteReader& in, DataRange& what) {
  return in.get(what.epoch) && in.get(what.range.begin) && in.get(what.range.end);
}

void put_count(ByteWriter& out, std::size_t count) { out.put(static_cast<std::uint32_t>(count)); }

bool get_count(ByteReader& in, std::uint32_t& count) {
  return in.get(count) && count <= kRangesMax;
}

}  // namespace

void Ledger::save(ByteWriter& out) const {
  out.put(kVersion);
  out.put(samples_);
  out.put(epochs_);
  out.put(epoch_);
  out.put(cursor_);
  out.put(round_);
  out.put(static_cast<std::uint8_t>(assigned_));
  put_count(out, seen_.size());
  for (const auto& [epoch, count] : seen_) {
    out.put(epoch);
    out.put(count);
  }
  std::size_t waiting = 0;
  for (const auto& [epoch, ranges] : waiting_) {
    waiting += ranges.list().size();
  }
  put_count(out, waiting);
  for (const auto& [epoch, ranges] : waiting_) {
    for (const auto& range : ranges.list()) {
      put(out, {epoch, range});
    }
  }
  put_count(out, leases_.size());
  for (const auto& [member, leases] : leases_) {
    out.put_bytes(member.peer.key);
    out.put(member.session);
    put_count(out, leases.size());
    for (const auto& lease : leases) {
      out.put(lease.round);
      put(out, lease.what);
    }
  }
}

Status Ledger::load_seen(ByteReader& in) {
  std::uint32_t count = 0;
  if (!get_count(in, count)) {
    return damaged("ends early");
  }
  seen_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t epoch = 0;
    std::uint64_t seen = 0;
    if (!in.get(epoch) || !in.get(seen)) {
      return damaged("ends early");
    }
    const bool complete = epoch != epoch_ && seen == samples_;
    if (epoch > epoch_ || seen > samples_ || complete || !seen_.emplace(epoch, seen).second) {
      return damaged("counts samples that can't be");
    }
  }
  return seen_.contains(epoch_) ? Status{} : damaged("lacks its epoch");
}

Status Ledger::load_waiting(ByteReader& in) {
  std::uint32_t count = 0;
  if (!get_count(in, count)) {
    return damaged("ends early");
  }
  DataRange last;
  for (std::uint32_t i = 0; i < count; ++i) {
    DataRange what;
    if (!get(in, what)) {
      return damaged("ends early");
    }
    // In the one order that save() writes, so that equal ledgers have equal bytes.
    const bool rises = i == 0 || what.epoch > last.epoch ||
                       (what.epoch == last.epoch && what.range.begin > last.range.end);
    if (!rises || what.range.empty()) {
      return damaged("holds ranges out of order");
    }
    give_back(what);
    last = what;
  }
  return {};
}

Status Ledger::load_leases(ByteReader& in) {
  std::uint32_t members = 0;
  if (!get_count(in, members)) {
    return damaged("ends early");
  }
  for (std::uint32_t i = 0; i < members; ++i) {
    comm::MemberId member;
    ByteSpan key;
    std::uint32_t count = 0;
    if (!in.get_bytes(member.peer.key.size(), key) || !in.get(member.session) ||
        !get_count(in, count)) {
      return damaged("ends early");
    }
    std::copy(key.begin(), key.end(), member.peer.key.begin());
    const bool rises = leases_.empty() || leases_.rbegin()->first < member;
    if (!rises || count == 0) {
      return damaged("holds members out of order");
    }
    auto& leases = leases_[member];
    for (std::uint32_t k = 0; k < count; ++k) {
      Lease lease;
      if (!in.get(lease.round) || !get(in, lease.what)) {
        return damaged("ends early");
      }
      if (lease.round > round_ || lease.what.range.empty()) {
        return damaged("holds a lease that can't be");
      }
      leases.push_back(lease);
    }
  }
  return {};
}

/// Every position below the cursor is seen, waiting or leased, and only one of them.
bool Ledger::consistent() const {
  std::map<std::uint64_t, std::vector<Range>> open;
  for (const auto& [epoch, ranges] : waiting_) {
    open[epoch].insert(open[epoch].end(), ranges.list().begin(), ranges.list().end());
  }
  for (const auto& [member, leases] : leases_) {
    for (const auto& lease : leases) {
      open[lease.what.epoch].push_back(lease.what.range);
    }
  }
  for (const auto& [epoch, count] : seen_) {
    auto& ranges = open[epoch];
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    const std::uint64_t limit = epoch == epoch_ ? cursor_ : samples_;
    std::uint64_t end = 0;
    std::uint64_t size = 0;
    for (const auto& range : ranges) {
      if (range.begin < end || range.end > limit) {
        return false;
      }
      end = range.end;
      size += range.size();
    }
    if (size + count != limit) {
      return false;
    }
    open.erase(epoch);
  }
  return open.empty();
}

Result<Ledger> Ledger::load(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint8_t assigned = 0;
  Ledger ledger(1, 1);
  if (!in.get(version) || version != kVersion || !in.get(ledger.samples_) ||
      !in.get(ledger.epochs_) || !in.get(ledger.epoch_) || !in.get(ledger.cursor_) ||
      !in.get(ledger.round_) || !in.get(assigned)) {
    return damaged("does not begin as one");
  }
  if (ledger.samples_ == 0 || ledger.samples_ >> 32U != 0 || ledger.epochs_ == 0 ||
      ledger.epochs_ >> 31U != 0 || ledger.epoch_ >= ledger.epochs_ ||
      ledger.cursor_ > ledger.samples_ || ledger.round_ >> 63U != 0 || assigned > 1) {
    return damaged("counts samples that can't be");
  }
  ledger.assigned_ = assigned == 1;
  SHOAL_TRY(ledger.load_seen(in));
  SHOAL_TRY(ledger.load_waiting(in));
  SHOAL_TRY(ledger.load_leases(in));
  if (!ledger.consistent()) {
    return damaged("has positions twice or not at all");
  }
  return ledger;
}

Hash256 Ledger::hash() const {
  ByteWriter out;
  save(out);
  return hash_of(out.span());
}

}  // namespace shoal::node
