// Included once per Highway target, so no #pragma once but Highway's own guard.
#if defined(SHOAL_OPS_CPU_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_OPS_CPU_LANES_INL_H_
#undef SHOAL_OPS_CPU_LANES_INL_H_
#else
#define SHOAL_OPS_CPU_LANES_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(tag, i) for whole vectors from `begin`, then for single lanes up to `end`: nothing
/// outside is touched, and a lane's result does not depend on where it lies.
template <typename Body>
HWY_ATTR HWY_INLINE void for_each_lane(std::size_t begin, std::size_t end, const Body& body) {
  const hn::ScalableTag<float> wide;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    body(wide, i);
  }
  const hn::CappedTag<float, 1> single;
  for (; i < end; ++i) {
    body(single, i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#endif
