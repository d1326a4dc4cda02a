#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace shoal::compress {

// What a codec does to one element, in integer and exactly rounded fp32 arithmetic only, so that
// every CPU and GPU gives the same bits. Vector kernels use these for their tails and are held to
// them by the tests.

inline constexpr std::uint32_t kAbsMask = 0x7fffffff;
inline constexpr std::uint32_t kInfBits = 0x7f800000;  ///< |x| >= this is Inf or NaN
inline constexpr float kFloatMax = std::numeric_limits<float>::max();
inline constexpr float kFloatMin = std::numeric_limits<float>::min();  ///< smallest normal one

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
/// Orders finite floats by magnitude.
inline std::uint32_t abs_bits(float x) { return bits_of(x) & kAbsMask; }
inline bool is_finite(float x) { return abs_bits(x) < kInfBits; }

/// Index of the first NaN or Inf, or x.size().
inline std::size_t first_not_finite(std::span<const float> x) {
  std::size_t i = 0;
  while (i < x.size() && is_finite(x[i])) {
    ++i;
  }
  return i;
}

/// acc += scale * x, the product rounded first.
inline void add_scaled(float& acc, float scale, float x) {
  const float product = scale * x;
  acc += product;
}

inline constexpr std::uint32_t kBf16Max = 0x7f7f;           ///< largest finite bfloat16
inline constexpr std::uint32_t kBf16Overflow = 0x7f7f8000;  ///< from here on floats round to Inf

/// Nearest bfloat16, ties to even; what would round to Inf becomes the largest finite one.
inline std::uint16_t to_bf16(float x) {
  const std::uint32_t magnitude = abs_bits(x);
  const std::uint32_t rounded = (magnitude + 0x7fff + ((magnitude >> 16) & 1)) >> 16;
  const std::uint32_t sign = (bits_of(x) >> 16) & 0x8000;
  return static_cast<std::uint16_t>(sign | (rounded > kBf16Max ? kBf16Max : rounded));
}
inline float from_bf16(std::uint16_t x) { return float_of(static_cast<std::uint32_t>(x) << 16); }

/// Sums over a granule are 32 sums in turn, element i to sum i % 32, so that vectors of any width
/// round alike.
inline constexpr std::size_t kSums = 32;

/// Folds them in halves. Overwrites `sums`.
inline float fold_sums(float* sums) {
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      sums[i] += sums[i + half];
    }
  }
  return sums[0];
}

/// The 2-norm of values, `sum` being that of their squares times factor^2: rounded up (a denormal
/// one to nearest), at least `max`, the largest magnitude, and finite. Requires: at most 4096
/// values summed in lanes in turn.
inline float norm_above(float sum, float factor, float max) {
  // Summing in 32 lanes, folding and the root err by less than 2^-17.
  const float norm = std::sqrt(sum) * (1 + 0x1p-16F) / factor;
  return norm < max ? max : norm > kFloatMax ? kFloatMax : norm;
}

/// Requires: -149 <= exponent <= 127.
inline float power_of_two(int exponent) {
  return float_of(exponent < -126 ? 1U << (exponent + 149)
                                  : static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// A power of two that brings magnitudes up to this one (as bits) to at most 2, and the largest, if
/// it isn't denormal, to at least 1: their squares neither overflow nor vanish.
inline float unit_factor(std::uint32_t max_bits) {
  const int exponent = 127 - static_cast<int>(max_bits >> 23);
  return power_of_two(exponent);
}

inline constexpr int kFp16ShiftMax = 127;
inline constexpr std::uint32_t kFp16Lowest = 0x46800000;   ///< 2^14, where the largest comes to lie
inline constexpr std::uint32_t kFp16Highest = 0x47000000;  ///< 2^15, to which it may be rounded
inline constexpr std::uint32_t kFp16Overflow = 0x7f7ff000;  ///< from here on floats round to 2^128

/// Exponent of the power of two that brings magnitudes up to this one (as bits) to 2^14..2^15,
/// where half precision has 29 powers of two below it with all 11 bits. Of magnitudes below
/// 2^-113, 2^127: there half precision holds every float32 up to rounding.
inline int fp16_shift(std::uint32_t max_bits) {
  const int shift = 141 - static_cast<int>(max_bits >> 23);
  return shift < kFp16ShiftMax ? shift : kFp16ShiftMax;
}

/// Nearest half-precision float, ties to even. Requires: |x| <= 2^15.
inline std::uint16_t to_fp16(float x) {
  const std::uint32_t magnitude = abs_bits(x);
  const std::uint32_t sign = (bits_of(x) >> 16) & 0x8000;
  if (magnitude < 0x38800000) {  // 2^-14: denormal; an ulp of 0.5 is one of them
    return static_cast<std::uint16_t>(sign | (bits_of(float_of(magnitude) + 0.5F) - 0x3f000000));
  }
  const std::uint32_t rounded = magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}
/// Exact; Inf and NaN become 2^16 and more.
inline float from_fp16(std::uint16_t half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fff) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  return float_of(bits_of(float_of(magnitude) * 0x1p112F) | sign);
}

/// Adding it moves a float's fraction bits out: the sum's low bits are the nearest integer.
inline constexpr float kRoundingMagic = 12582912.0F;  // 1.5 * 2^23
inline constexpr std::uint32_t kRoundingMagicBits = 0x4b400000;

/// Nearest integer, ties to even. Requires: |x| <= 2^22.
inline std::int32_t nearest_even(float x) {
  return static_cast<std::int32_t>(bits_of(x + kRoundingMagic) - kRoundingMagicBits);
}

/// A random word for each element of a granule, of its index and a key that one granule of one
/// encoding has to itself: a counter through two rounds of a 32-bit mixer.
/// Source: constants found by C. Wellons, "Prospecting for Hash Functions", 2018 (lowbias32); a
/// second half of the key enters between the rounds, so that granules don't share sequences.
struct Draws {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  static constexpr std::uint32_t kStride = 0x9e3779b9;
  static constexpr std::uint32_t kMix1 = 0x7feb352d;
  static constexpr std::uint32_t kMix2 = 0x846ca68b;

  [[nodiscard]] std::uint32_t operator()(std::size_t index) const {
    std::uint32_t x = static_cast<std::uint32_t>(index) * kStride + first;
    x ^= x >> 16;
    x *= kMix1;
    x ^= x >> 15;
    x += second;
    x *= kMix2;
    return x ^ (x >> 16);
  }
};

inline constexpr float kDrawRange = 0x1p24F;  ///< of the upper 24 bits of a word, exact as float

/// True with this probability, up to 2^-24.
inline bool happens(float probability, std::uint32_t word) {
  return static_cast<float>(word >> 8) < probability * kDrawRange;
}

/// One of the two integers next to |x|, with the sign of x; its expectation is x up to 2^-24. What
/// a rounded product brought above `top`, which is an integer below 2^23, is taken as that.
inline std::int32_t randomly_rounded(float x, float top, std::uint32_t word) {
  float magnitude = float_of(abs_bits(x));
  magnitude = magnitude > top ? top : magnitude;
  const auto whole = static_cast<std::int32_t>(magnitude);
  const bool up = happens(magnitude - static_cast<float>(whole), word);
  const std::int32_t rounded = whole + (up ? 1 : 0);
  return x < 0 ? -rounded : rounded;
}

/// Whether the scale of a block of integers up to `top` can come from an encoder: positive zero,
/// or so that `top` of it are finite.
inline bool scale_valid(float scale, float top) {
  return bits_of(scale) < kInfBits && top * scale <= kFloatMax;
}

/// The step of a block whose largest magnitude has these bits: max / top, one ulp more where
/// rounding (of a denormal, above all) would leave the largest out of reach, and finite times top.
inline float scale_for(std::uint32_t max_bits, float top) {
  const float max = float_of(max_bits);
  float scale = max / top;
  if (top * scale < max) {
    scale = float_of(bits_of(scale) + 1);
  }
  return scale_valid(scale, top) ? scale : float_of(bits_of(scale) - 1);
}

/// How values of a block are brought to steps: by a product with the reciprocal, or, where that
/// would overflow, by a division.
struct BlockStep {
  explicit BlockStep(float scale)
      : divide(scale < kFloatMin), factor(divide ? scale : 1.0F / scale) {}
  bool divide;
  float factor;
};

/// x in steps: up to what scale_for() was given, and the rounding of a reciprocal and a product.
/// Requires: a step of a scale above zero.
inline float to_steps(float x, BlockStep step) {
  return step.divide ? x / step.factor : x * step.factor;
}

inline constexpr float kInt8Max = 127.0F;
inline constexpr float kInt4Max = 7.0F;
inline constexpr std::uint32_t kInt4Zero = 8;  ///< what stands for 0; 1 is -7, 15 is 7

/// Smallest and largest code of a block.
struct CodeRange {
  std::uint32_t min = ~0U;
  std::uint32_t max = 0;
};

/// Bytes of so many 4-bit codes.
inline std::size_t nibble_bytes(std::size_t count) { return (count + 1) / 2; }

/// Exponent of the power of two nearest to this magnitude in the linear sense, ties up; with
/// `above` of the next one at or above it. At most 127. Requires: 0 < bits < kInfBits.
inline int power_exponent(std::uint32_t bits, bool above) {
  const bool small = bits < 64U << 23;  // denormals have their exponent in the fraction
  const std::uint32_t normal = small ? bits_of(float_of(bits) * 0x1p64F) : bits;
  const std::uint32_t field = (normal + (above ? 0x7fffff : 0x400000)) >> 23;
  const int exponent = static_cast<int>(field) - 127 - (small ? 64 : 0);
  return exponent < 127 ? exponent : 127;
}

/// Magnitudes of e3m0: code 0 is 0, code c is 2^(base + c - 1).
inline constexpr int kE3m0BaseMin = -149;
inline constexpr int kE3m0BaseMax = 121;
inline constexpr std::uint32_t kE3m0Top = 7;
inline constexpr std::uint32_t kE3m0Nearest = 1U << 22;  ///< added to a fraction of 23 bits

/// The base for a block whose largest magnitude has these bits.
inline int e3m0_base(std::uint32_t max_bits, bool above) {
  const int base = max_bits == 0 ? kE3m0BaseMin : power_exponent(max_bits, above) - 6;
  return base > kE3m0BaseMin ? base : kE3m0BaseMin;
}

/// Brings magnitudes to units of 2^base: by two factors, since 2^149 is none.
struct E3m0Unit {
  explicit E3m0Unit(int base)
      : first(base < -100 ? 0x1p64F : 1), second(power_of_two(-base - (base < -100 ? 64 : 0))) {}
  float first;
  float second;
};

/// Code of |x|: as if exponent and fraction of |x| / 2^base were one integer (a denormal float is
/// built so), `add` of its lower 23 bits decides which way it is rounded: half of it for the
/// nearest, ties up, or 23 random bits.
inline std::uint32_t to_e3m0(float x, E3m0Unit unit, std::uint32_t add) {
  const float units = float_of(abs_bits(x)) * unit.first * unit.second;
  const std::uint32_t joined =
      units < 1 ? static_cast<std::uint32_t>(units * 0x1p23F) : bits_of(units) - (126U << 23);
  const std::uint32_t code = (joined + add) >> 23;
  return code < kE3m0Top ? code : kE3m0Top;
}
/// Requires: code <= 7, `base` as a float.
inline float from_e3m0(std::uint32_t code, float base) {
  return code == 0 ? 0 : float_of((code + 126) << 23) * base;
}

using Int8Step = BlockStep;
inline bool int8_scale_valid(float scale) { return scale_valid(scale, kInt8Max); }
inline float int8_scale(std::uint32_t max_bits) { return scale_for(max_bits, kInt8Max); }
/// Of any valid scale: what lies beyond 127 steps becomes 127.
inline std::int8_t to_int8(float x, Int8Step step) {
  float steps = to_steps(x, step);
  steps = steps > kInt8Max ? kInt8Max : steps;
  steps = steps < -kInt8Max ? -kInt8Max : steps;
  return static_cast<std::int8_t>(nearest_even(steps));
}
inline float from_int8(std::int8_t q, float scale) { return static_cast<float>(q) * scale; }

}  // namespace shoal::compress
