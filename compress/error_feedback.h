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
/// pending. Included: carry <- fl(decay * fl(s - decode(encode(s)))), pending weight 0. Settled at
/// commit. The decay is 1 but for DeMo.
/// Of a codec with momentum m there is a velocity u too: s = fl(fl(fl(m*u) + fl(w*x)) + carry),
/// then u <- fl(s - carry), what this round added to the carry; u <- 0 where a value was sent (its
/// velocity has acted), but not in packed granules, which go whole. A contribution without x moves
/// no velocity.
/// Source: error feedback as in Karimireddy et al., arXiv 1901.09847, algorithm 1; velocity: Lin et
/// al., Deep Gradient Compression, arXiv 1712.01887, algorithm 1 and section 3.2; decay: Peng et
/// al., DeMo, arXiv 2411.19870, algorithm 1. Weights and per-part settlement are ours.
class Carry {
 public:
  explicit Carry(const ParamMap& map);

  /// From now on contributions are for this codec: a velocity is kept if it has momentum, else
  /// dropped. What is owed stays.
  void use(const Codec& codec);
  /// s of the whole flat array, `weight` as float; padding is 0.
  void contribution(double weight, std::span<const float> x, std::span<float> s) const;
  /// Weight of a contribution per granule run: `weight` + what is pending there; runs merged.
  [[nodiscard]] std::vector<WeightRun> weights(double weight, Range granules) const;

  /// The owner's answer counted us in: keep what the encoding lost.
  /// `weight` is that of x in s, 0 when there was none.
  /// Requires: `encoded` is our own encoding of s over `granules` by `codec` in `context`.
  /// Errors: kBadFrame when it is not; the carry of its first granules may have been settled.
  Status settle_included(const Codec& codec, CodecContext context, Range granules,
                         std::span<const float> s_part, double weight, ByteSpan encoded);
  /// We were left out: all of s waits, its weight (this round's, added to what is pending) too.
  /// A granule of s with a NaN or Inf, which could not have been sent, changes nothing.
  void settle_left_out(Range granules, std::span<const float> s_part, double weight);

  /// What is owed over `granules`, its velocity and the weight that is pending there are gone: the
  /// group refused the contribution that held them.
  void drop(Range granules);

  /// carry[i] += fl(scale * values[i]) over `granules`: an owner's residual comes home when its
  /// granules move to another owner. A sum that is not finite changes nothing. Requires: `values`
  /// starts at granules.begin.
  void add(Range granules, float scale, std::span<const float> values);

  [[nodiscard]] std::span<const float> values() const { return values_; }
  [[nodiscard]] std::span<const double> pending() const { return pending_; }
  /// Empty unless a codec with momentum is used.
  [[nodiscard]] std::span<const float> velocity() const { return velocity_; }
  void save(ByteWriter& out) const;
  /// Errors: kData for another model's carry, a short one, or values that are not finite.
  [[nodiscard]] Status load(ByteReader& in);

 private:
  /// What fl(s - carry) says the velocity became. Requires: the carry is not settled yet.
  void move_velocity(std::size_t to, std::span<const float> s);

  const ParamMap* map_;
  float momentum_ = 0;
  std::vector<float> values_;    // flat_size()
  std::vector<double> pending_;  // granule_count()
  std::vector<float> velocity_;  // flat_size(), or none
};

}  // namespace shoal::compress
