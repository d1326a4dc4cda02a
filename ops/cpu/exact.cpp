
#include <cstddef>

#include "ops/cpu/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/exact.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

HWY_ATTR void scale_all(float* x, float factor, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  });
}

HWY_ATTR void add_scaled_all(float* y, float factor, const float* x, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto product = hn::Mul(hn::Set(d, factor), hn::LoadU(d, x + i));
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), product), d, y + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(scale_all);
HWY_EXPORT(add_scaled_all);

void scale(float* x, float factor, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale_all)(x, factor, count);
}

void add_scaled(float* y, float factor, const float* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_scaled_all)(y, factor, x, count);
}

}  // namespace shoal::ops::cpu
#endif
