
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

#define SHOAL_RULE HWY_ATTR HWY_INLINE
#include "ops/kernels/update_rules.inc"
#undef SHOAL_RULE

/// As kernels::Plain, on lanes. Mul and Add stay apart: the tree is compiled with
/// -ffp-contract=off.
struct LaneArith {
  template <typename V>
  HWY_ATTR HWY_INLINE V mul(V a, V b) const {
    return hn::Mul(a, b);
  }
  template <typename V>
  HWY_ATTR HWY_INLINE V add(V a, V b) const {
    return hn::Add(a, b);
  }
  template <typename V>
  HWY_ATTR HWY_INLINE V sub(V a, V b) const {
    return hn::Sub(a, b);
  }
};

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

HWY_ATTR void sgd_all(const SgdStep& s) {
  for_each_lane(0, s.count, [&s](auto d, std::size_t i) HWY_ATTR {
    const LaneArith arith;
    const auto p = hn::LoadU(d, s.parameters + i);
    auto step = hn::LoadU(d, s.gradients + i);
    if (s.decay != 0) {
      step = hn::Add(step, hn::Mul(hn::Set(d, s.decay), p));
    }
    if (s.momentum != nullptr) {
      auto m = hn::LoadU(d, s.momentum + i);
      step = sgd_direction(arith, step, m, hn::Set(d, s.mu), s.nesterov);
      hn::StoreU(m, d, s.momentum + i);
    }
    hn::StoreU(hn::Sub(p, hn::Mul(hn::Set(d, s.lr), step)), d, s.parameters + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(scale_all);
HWY_EXPORT(add_scaled_all);
HWY_EXPORT(sgd_all);

void scale(float* x, float factor, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale_all)(x, factor, count);
}

void add_scaled(float* y, float factor, const float* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_scaled_all)(y, factor, x, count);
}

void sgd(const SgdStep& step) { HWY_DYNAMIC_DISPATCH(sgd_all)(step); }

}  // namespace shoal::ops::cpu
#endif
