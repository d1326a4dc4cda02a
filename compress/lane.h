#pragma once

#include <bit>
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

/// Requires: -149 <= exponent <= 127.
inline float power_of_two(int exponent) {
  return float_of(exponent < -126 ? 1U << (exponent + 149)
                                  : static_cast<std::uint32_t>(exponent + 127) << 23);
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

inline constexpr float kInt8Max = 127.0F;

/// Whether a scale can come from an encoder: positive zero, or so that 127 of it are finite.
inline bool int8_scale_valid(float scale) {
  return bits_of(scale) < kInfBits && kInt8Max * scale <= kFloatMax;
}

/// The step of an int8 block whose largest magnitude has these bits: max / 127, one ulp more where
/// rounding (of a denormal, above all) would leave the largest out of reach, and finite times 127.
inline float int8_scale(std::uint32_t max_bits) {
  const float max = float_of(max_bits);
  float scale = max / kInt8Max;
  if (kInt8Max * scale < max) {
    scale = float_of(bits_of(scale) + 1);
  }
  return int8_scale_valid(scale) ? scale : float_of(bits_of(scale) - 1);
}

/// How values of a block are brought to steps: by a product with the reciprocal, or, where that
/// would overflow, by a division.
struct Int8Step {
  explicit Int8Step(float scale)
      : divide(scale < std::numeric_limits<float>::min()), factor(divide ? scale : 1.0F / scale) {}
  bool divide;
  float factor;
};

/// Requires: a step of a scale above zero.
inline std::int8_t to_int8(float x, Int8Step step) {
  float steps = step.divide ? x / step.factor : x * step.factor;
  steps = steps > kInt8Max ? kInt8Max : steps;
  steps = steps < -kInt8Max ? -kInt8Max : steps;
  return static_cast<std::int8_t>(nearest_even(steps));
}
inline float from_int8(std::int8_t q, float scale) { return static_cast<float>(q) * scale; }

}  // namespace shoal::compress
