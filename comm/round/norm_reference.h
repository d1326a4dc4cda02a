#pragma once

#include <cstdint>
#include <span>

#include "ops/parameters.h"

namespace shoal::comm {

/// The guard at the door of the average.
struct GuardOptions {
  bool enabled = true;
  /// A norm above this many times the reference is absurd.
  double norm_factor = 1e4;
  /// A norm above this is absurd whatever was seen before: up to it, the squares of a mean's
  /// elements, which optimizers take in fp32, stay finite (sqrt(FLT_MAX) is 1.8e19).
  double norm_max = 1e18;
  /// Rounds in which the reference falls to its half when nothing renews it.
  double half_life = 128;
  /// Committed rounds of a part before its reference is believed.
  std::uint64_t rounds_min = 8;
};

/// How large the contributions to a part were lately: the yardstick of the guard, kept by the
/// part's owner. "Norm" is that of a contribution's mean (sum over weight, granule by granule).
///
///   r_t = max(largest norm accepted in round t, r_(t-1) 2^(-1 / half_life))
///
/// and a norm above norm_factor * r is refused; before rounds_min rounds, or while r is 0, only
/// what is above norm_max.
///
/// Why rounds and not members: gradients are heavy-tailed, and once a model fits most of its
/// samples most batches give next to nothing while one that it doesn't fit gives what batches gave
/// before: 1131 times the median of three peers was seen. Such a batch is large beside its
/// neighbours, never beside the past, so a maximum that fades slowly is what honest norms keep to.
/// Why 1e4: r is at least the median of the last round, so an honest norm may be 1e4 times that
/// even when the past has faded; and a flipped bit k of an exponent multiplies an element by
/// 2^(2^k), so from k = 4 on (65,536) it is caught in any element that holds a sixth of the norm.
/// It is a guard against faults. Who raises its norms round by round passes until norm_max.
///
/// Owners need not agree: one refusal is enough, all members leave the refused one out in the next
/// ballot, and refusals only ever add up. Who reduces a part in its owner's stead has no reference
/// for it and refuses by norm_max alone; so does an owner whose part has moved.
/// Threads: none of its own; the loop's.
class NormReference {
 public:
  /// The bound for the part: norms above it are absurd.
  [[nodiscard]] double bound(Range granules, const GuardOptions& options) const;
  /// A committed round of the part counted these in. Another part than before begins anew.
  void accept(Range granules, std::span<const double> norms, const GuardOptions& options);

 private:
  Range granules_;
  double reference_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace shoal::comm
