// Vector kernels that several codecs share; included once per Highway target, hence no pragma once.
#if defined(SHOAL_COMPRESS_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_COMPRESS_LANES_INL_H
#undef SHOAL_COMPRESS_LANES_INL_H
#else
#define SHOAL_COMPRESS_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/lane.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::Repartition<std::uint32_t, Floats>;
using Ints = hn::Repartition<std::int32_t, Floats>;

/// |x| as bits, lane by lane.
template <class V>
HWY_INLINE hn::Vec<Words> lanes_abs_bits(V x) {
  const Words words;
  return hn::And(hn::BitCast(words, x), hn::Set(words, kAbsMask));
}

/// acc[0..lanes) += scale * x, the product rounded first.
template <class V>
HWY_INLINE void lanes_add_scaled(float* acc, V scale, V x) {
  const Floats floats;
  hn::StoreU(hn::Add(hn::LoadU(floats, acc), hn::Mul(scale, x)), floats, acc);
}

/// Largest |x| as bits; at least kInfBits when x holds a NaN or an Inf.
HWY_INLINE std::uint32_t lanes_abs_max(const float* x, std::size_t count) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  auto max0 = hn::Zero(words);
  auto max1 = max0;
  std::size_t i = 0;
  for (; i + 2 * step <= count; i += 2 * step) {
    max0 = hn::Max(max0, lanes_abs_bits(hn::LoadU(floats, x + i)));
    max1 = hn::Max(max1, lanes_abs_bits(hn::LoadU(floats, x + i + step)));
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, hn::Max(max0, max1)));
  for (; i < count; ++i) {
    max = std::max(max, abs_bits(x[i]));
  }
  return max;
}

/// to_steps of each lane.
template <bool kDivide, class V>
HWY_INLINE V lanes_to_steps(V x, V factor) {
  return kDivide ? hn::Div(x, factor) : hn::Mul(x, factor);
}

/// Draws of `index` and the lanes behind it.
HWY_INLINE hn::Vec<Words> lanes_draws(Draws draws, std::size_t index) {
  const Words words;
  const auto strides = hn::Mul(hn::Iota(words, 0), hn::Set(words, Draws::kStride));
  const auto at = static_cast<std::uint32_t>(index) * Draws::kStride + draws.first;
  auto x = hn::Add(strides, hn::Set(words, at));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(words, Draws::kMix1));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Add(x, hn::Set(words, draws.second));
  x = hn::Mul(x, hn::Set(words, Draws::kMix2));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

/// happens() in each lane.
template <class V, class W>
HWY_INLINE hn::Mask<Floats> lanes_happens(V probability, W draws) {
  const Floats floats;
  const auto drawn = hn::ConvertTo(floats, hn::BitCast(Ints(), hn::ShiftRight<8>(draws)));
  return hn::Lt(drawn, hn::Mul(probability, hn::Set(floats, kDrawRange)));
}

/// Ways to round steps to integers of up to 8 bits, one by one and in vectors; there the low 8 bits
/// count and the others may be anything. `index`: of the (first) element in its granule.
struct RoundNearest {
  template <class V>
  HWY_INLINE hn::Vec<Words> lanes(V steps, std::size_t /*index*/) const {
    return hn::BitCast(Words(), hn::Add(steps, hn::Set(Floats(), kRoundingMagic)));
  }
  std::int32_t one(float steps, std::size_t /*index*/) const { return nearest_even(steps); }
};

struct RoundRandomly {
  Draws draws;
  float top;

  template <class V>
  HWY_INLINE hn::Vec<Words> lanes(V steps, std::size_t index) const {
    const Ints ints;
    const auto magnitude = hn::Min(hn::Abs(steps), hn::Set(Floats(), top));
    const auto whole = hn::ConvertTo(ints, magnitude);
    const auto fraction = hn::Sub(magnitude, hn::ConvertTo(Floats(), whole));
    const auto up = lanes_happens(fraction, lanes_draws(draws, index));
    const auto rounded = hn::Sub(whole, hn::BitCast(ints, hn::VecFromMask(Floats(), up)));
    const auto sign = hn::BroadcastSignBit(hn::BitCast(ints, steps));
    return hn::BitCast(Words(), hn::Sub(hn::Xor(rounded, sign), sign));
  }
  std::int32_t one(float steps, std::size_t index) const {
    return randomly_rounded(steps, top, draws(index));
  }
};

/// Writes the steps of a block plus `offset`, a byte each.
template <bool kDivide, class Round>
HWY_INLINE void lanes_quantise(const float* x, std::size_t count, BlockStep block_step, Round round,
                               std::size_t index, std::uint32_t offset, std::uint8_t* out) {
  const Floats floats;
  const hn::Rebind<std::uint8_t, Floats> octets;
  const std::size_t step = hn::Lanes(floats);
  const auto factor = hn::Set(floats, block_step.factor);
  const auto offsets = hn::Set(Words(), offset);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto steps = lanes_to_steps<kDivide>(hn::LoadU(floats, x + i), factor);
    const auto codes = hn::Add(round.lanes(steps, index + i), offsets);
    hn::StoreU(hn::TruncateTo(octets, codes), octets, out + i);
  }
  for (; i < count; ++i) {
    const auto q = static_cast<std::uint32_t>(round.one(to_steps(x[i], block_step), index + i));
    out[i] = static_cast<std::uint8_t>(q + offset);
  }
}
template <class Round>
HWY_INLINE void lanes_quantise(const float* x, std::size_t count, float scale, Round round,
                               std::size_t index, std::uint32_t offset, std::uint8_t* out) {
  if (scale == 0) {
    std::memset(out, static_cast<int>(offset), count);
  } else if (const BlockStep step(scale); step.divide) {
    lanes_quantise<true>(x, count, step, round, index, offset, out);
  } else {
    lanes_quantise<false>(x, count, step, round, index, offset, out);
  }
}

/// acc += scale * ((code - offset) * block_scale), each product rounded.
HWY_INLINE CodeRange lanes_add_steps(const std::uint8_t* codes, std::size_t count,
                                     std::int32_t offset, float block_scale, float scale,
                                     float* acc) {
  const Floats floats;
  const Words words;
  const hn::Rebind<std::uint8_t, Floats> octets;
  const std::size_t step = hn::Lanes(floats);
  const auto offsets = hn::Set(Ints(), offset);
  const auto block_scales = hn::Set(floats, block_scale);
  const auto scales = hn::Set(floats, scale);
  auto lanes_min = hn::Set(words, ~0U);
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto code = hn::PromoteTo(words, hn::LoadU(octets, codes + i));
    lanes_min = hn::Min(lanes_min, code);
    lanes_max = hn::Max(lanes_max, code);
    const auto q = hn::ConvertTo(floats, hn::Sub(hn::BitCast(Ints(), code), offsets));
    lanes_add_scaled(acc + i, scales, hn::Mul(q, block_scales));
  }
  CodeRange range{hn::GetLane(hn::MinOfLanes(words, lanes_min)),
                  hn::GetLane(hn::MaxOfLanes(words, lanes_max))};
  for (; i < count; ++i) {
    range.min = std::min<std::uint32_t>(range.min, codes[i]);
    range.max = std::max<std::uint32_t>(range.max, codes[i]);
    add_scaled(acc[i], scale, static_cast<float>(codes[i] - offset) * block_scale);
  }
  return range;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
