#pragma once

#include <span>
#include <vector>

#include "compress/codec.h"

namespace shoal::compress {

/// A run of granules with the weight (samples) behind it.
struct WeightRun {
  Range granules;
  double weight = 0;
  friend bool operator==(const WeightRun&, const WeightRun&) = default;
};

/// A sender's memory of what it owes: per element the carry, per granule the pending weight of
/// contributions that were left out. Every codec has a carry, fp32 too.
///
/// A contribution is s = fl(fl(w*x) + carry). Left out of a part: carry <- s and its weight is
/// pending. Included: carry <- fl(s - decode(encode(s))), pending weight 0. Settled at commit.
/// Source: error feedback as in Karimireddy et al., arXiv 1901.09847, algorithm 1; weights and
/// per-part settlement are ours.
class Carry {
 public:
  explicit Carry(const ParamMap& map);

  /// s = fl(fl(weight * x) + carry) over the whole flat array, `weight` as float; padding is 0.
  void contribution(double weight, std::span<const float> x, std::span<float> s) const;
  /// Weight of a contribution per granule run: `weight` + what is pending there; runs merged.
  [[nodiscard]] std::vector<WeightRun> weights(double weight, Range granules) const;

  /// The owner's answer counted us in: keep what the encoding lost.
  /// Requires: `encoded` is our own encoding of s over `granules` by `codec` in `context`.
  /// Errors: kBadFrame when it is not; the carry of its first granules may have been settled, and
  /// that of the one at fault is s.
  Status settle_included(const Codec& codec, CodecContext context, Range granules,
                         std::span<const float> s_part, ByteSpan encoded);
  /// We were left out: all of s waits, its weight (this round's, added to what is pending) too.
  /// A granule of s with a NaN or Inf, which could not have been sent, changes nothing.
  void settle_left_out(Range granules, std::span<const float> s_part, double weight);

  /// What is owed over `granules` and the weight that is pending there are gone: the group refused
  /// the contribution that held them.
  void drop(Range granules);

  /// carry[i] += fl(scale * values[i]) over `granules`: an owner's residual comes home when its
  /// granules move to another owner. A sum that is not finite changes nothing. Requires: `values`
  /// starts at granules.begin.
  void add(Range granules, float scale, std::span<const float> values);

  [[nodiscard]] std::span<const float> values() const { return values_; }
  [[nodiscard]] std::span<const double> pending() const { return pending_; }
  void save(ByteWriter& out) const;
  /// Errors: kData for another model's carry, a short one, or values that are not finite.
  [[nodiscard]] Status load(ByteReader& in);

 private:
  const ParamMap* map_;
  std::vector<float> values_;    // flat_size()
  std::vector<double> pending_;  // granule_count()
};

}  // namespace shoal::compress
