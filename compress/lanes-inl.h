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

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
