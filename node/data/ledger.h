#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "comm/peer_id.h"
#include "ops/base/bytes.h"
#include "ops/base/hash.h"
#include "ops/base/result.h"
#include "ops/parameters.h"

namespace shoal::node {

/// Positions [range.begin, range.end) of the permutation of `epoch`, to be worked on.
struct DataRange {
  std::uint64_t epoch = 0;
  Range range;
  friend bool operator==(const DataRange&, const DataRange&) = default;
};

/// A member's claim on a batch: shares are cut in proportion to the weights.
struct Share {
  comm::MemberId member;
  std::uint32_t weight = 1;
};

/// The integer weight of a measured speed (Member::speed travels in the view, so the product with a
/// power of two is the same everywhere): 1 to 2^24, 2^10 for speed 1.
std::uint32_t share_weight(double speed);

/// What a committed (or tentative) round says about data.
struct RoundOutcome {
  std::uint64_t round = 0;
  std::vector<comm::MemberId> members;  ///< the view that the round began in
  std::vector<bool> included;           ///< by member: contributed to any part
  std::vector<comm::MemberId> next;     ///< the view after it
};

/// The leased global permutation of shared data mode: which positions of which epoch are seen,
/// leased to a member, or waiting. Replicated: equal calls give equal states to the bit, so it is
/// a part of the commit. For each round first `assign`, then `settle`. A value: a member works on
/// a tentative copy until the round is committed.
///
/// A position is seen when a commit includes a contribution of its holder. Left out, the holder
/// carries its lease along with its carry; gone from the next view, its leases wait again and
/// are handed out before anything new. So every position of an epoch is seen exactly once.
class Ledger {
 public:
  /// Requires: 0 < samples < 2^32, epochs > 0 (checked).
  Ledger(std::uint64_t samples, std::uint64_t epochs);

  /// Leases up to `total` positions (less at the end of an epoch: a batch never straddles two) and
  /// cuts them in member order, in proportion to the weights (largest remainders, ties to the
  /// earlier). With weights that add up to `total` the counts are the weights themselves.
  /// Returns the ranges of each share, in order; all empty when everything is leased or seen.
  /// Errors: kInternal when the round before was not settled, or shares are empty, too many, twice
  /// the same member.
  [[nodiscard]] Result<std::vector<std::vector<DataRange>>> assign(std::uint64_t round,
                                                                   const std::vector<Share>& shares,
                                                                   std::uint64_t total);

  /// What became of leases in one round.
  struct Settled {
    std::vector<DataRange> seen;
    std::vector<DataRange> returned;
  };
  /// Errors: kInternal for a round that was not assigned or lists of different lengths.
  [[nodiscard]] Result<Settled> settle(const RoundOutcome& outcome);

  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t epochs() const { return epochs_; }
  /// No round below this can be assigned any more.
  [[nodiscard]] std::uint64_t round() const { return round_; }
  /// The epoch that new positions are leased from.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// Seen positions of one epoch, and of all.
  [[nodiscard]] std::uint64_t seen(std::uint64_t epoch) const;
  [[nodiscard]] std::uint64_t seen_total() const;
  /// Outstanding ranges of a member, oldest first; what a resumed or re-dealt member works on.
  [[nodiscard]] std::vector<DataRange> leases_of(const comm::MemberId& member) const;
  /// Nothing is left to lease, as things stand: a lease may still come back.
  [[nodiscard]] bool exhausted() const;
  /// Every position of every epoch is seen.
  [[nodiscard]] bool complete() const { return seen_total() == samples_ * epochs_; }

  /// Takes every outstanding lease back (resume: the sessions that held them are over).
  void return_all();

  void save(ByteWriter& out) const;
  /// Errors: kData for bytes that no ledger would write: positions twice or missing, out of range.
  [[nodiscard]] static Result<Ledger> load(ByteReader& in);
  [[nodiscard]] Hash256 hash() const;
  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  struct Lease {
    std::uint64_t round = 0;
    DataRange what;
    friend bool operator==(const Lease&, const Lease&) = default;
  };
  [[nodiscard]] std::vector<DataRange> take(std::uint64_t count);
  void give_back(const DataRange& what);
  void forget_complete();
  [[nodiscard]] Status load_seen(ByteReader& in);
  [[nodiscard]] Status load_waiting(ByteReader& in);
  [[nodiscard]] Status load_leases(ByteReader& in);
  [[nodiscard]] bool consistent() const;

  std::uint64_t samples_;
  std::uint64_t epochs_;
  std::uint64_t epoch_ = 0;
  std::uint64_t cursor_ = 0;                 ///< first position of epoch_ that was never leased
  std::uint64_t round_ = 0;                  ///< last round assigned
  bool assigned_ = false;                    ///< and not yet settled
  std::map<std::uint64_t, Ranges> waiting_;  ///< returned positions by epoch
  std::map<comm::MemberId, std::vector<Lease>> leases_;
  std::map<std::uint64_t, std::uint64_t>
      seen_;  ///< of epoch_ and of those before it that are not complete
};

}  // namespace shoal::node
