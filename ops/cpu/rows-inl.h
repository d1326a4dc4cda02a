// Included once per Highway target, so no #pragma once but Highway's own guard.
#if defined(SHOAL_OPS_CPU_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_OPS_CPU_ROWS_INL_H_
#undef SHOAL_OPS_CPU_ROWS_INL_H_
#else
#define SHOAL_OPS_CPU_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "hwy/highway.h"
#include "ops/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

using RowTag = hn::ScalableTag<float>;
using RowVec = hn::Vec<RowTag>;

/// What a row holds from `i`, `rest` where it ends before the vector does; no other memory is read.
HWY_ATTR HWY_INLINE RowVec load_part(const float* x, std::size_t left, float rest) {
  const RowTag d;
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(hn::Set(d, rest), d, part);
  std::copy_n(x, left, part);
  return hn::Load(d, part);
}

HWY_ATTR HWY_INLINE void store_part(RowVec v, float* x, std::size_t left) {
  const RowTag d;
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, part);
  std::copy_n(part, left, x);
}

/// Calls each(i, values) for the vectors of a row of `count`, the last filled up with `rest`, and
/// stores what it gives.
template <typename Each>
HWY_ATTR HWY_INLINE void map_row(const float* x, float* y, std::size_t count, float rest,
                                 const Each& each) {
  const RowTag d;
  const std::size_t wide = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + wide <= count; i += wide) {
    hn::StoreU(each(i, hn::LoadU(d, x + i)), d, y + i);
  }
  if (i < count) {
    store_part(each(i, load_part(x + i, count - i, rest)), y + i, count - i);
  }
}

/// The same without a result.
template <typename Each>
HWY_ATTR HWY_INLINE void read_row(const float* x, std::size_t count, float rest, const Each& each) {
  const RowTag d;
  const std::size_t wide = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + wide <= count; i += wide) {
    each(i, hn::LoadU(d, x + i));
  }
  if (i < count) {
    each(i, load_part(x + i, count - i, rest));
  }
}

HWY_ATTR HWY_INLINE float sum_of(RowVec v) {
  const RowTag d;
  return hn::GetLane(hn::SumOfLanes(d, v));
}

HWY_ATTR HWY_INLINE float max_of(RowVec v) {
  const RowTag d;
  return hn::GetLane(hn::MaxOfLanes(d, v));
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#endif
