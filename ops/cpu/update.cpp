#include "ops/cpu/update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/update.cpp"
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

/// As kernels::Plain, on lanes of D. Mul and Add stay apart: the tree is compiled with
/// -ffp-contract=off. Div and Sqrt round correctly on every target.
template <typename D>
struct LaneArith {
  D d;
  HWY_ATTR HWY_INLINE auto num(float x) const { return hn::Set(d, x); }
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
  template <typename V>
  HWY_ATTR HWY_INLINE V div(V a, V b) const {
    return hn::Div(a, b);
  }
  template <typename V>
  HWY_ATTR HWY_INLINE V root(V a) const {
    return hn::Sqrt(a);
  }
  template <typename V>
  HWY_ATTR HWY_INLINE V if_less(V a, V b, V yes, V no) const {
    return hn::IfThenElse(hn::Lt(a, b), yes, no);
  }
};

template <UpdateRule kRule>
HWY_ATTR void update_loop(const UpdateArrays<float>& s, const UpdateNumbers<float>& n,
                          std::size_t count) {
  for_each_lane(0, count, [&s, &n](auto d, std::size_t i) HWY_ATTR {
    const LaneArith<decltype(d)> arith{d};
    const auto p = hn::LoadU(d, s.parameters + i);
    const auto g = hn::LoadU(d, s.gradients + i);
    auto m = has_first(kRule) ? hn::LoadU(d, s.first + i) : hn::Zero(d);
    auto v = has_second(kRule) ? hn::LoadU(d, s.second + i) : hn::Zero(d);
    hn::StoreU(update_rule<kRule>(arith, n, p, g, m, v), d, s.result + i);
    if constexpr (has_first(kRule)) {
      hn::StoreU(m, d, s.first + i);
    }
    if constexpr (has_second(kRule)) {
      hn::StoreU(v, d, s.second + i);
    }
  });
}

HWY_ATTR void update_all(UpdateRule rule, const UpdateArrays<float>& s,
                         const UpdateNumbers<float>& n, std::size_t count) {
  switch (rule) {
    case UpdateRule::kSgd:
      return update_loop<UpdateRule::kSgd>(s, n, count);
    case UpdateRule::kMomentum:
      return update_loop<UpdateRule::kMomentum>(s, n, count);
    case UpdateRule::kNesterov:
      return update_loop<UpdateRule::kNesterov>(s, n, count);
    case UpdateRule::kLars:
      return update_loop<UpdateRule::kLars>(s, n, count);
    case UpdateRule::kAdamw:
      return update_loop<UpdateRule::kAdamw>(s, n, count);
    case UpdateRule::kAdagrad:
      return update_loop<UpdateRule::kAdagrad>(s, n, count);
    case UpdateRule::kAdagradMomentum:
      return update_loop<UpdateRule::kAdagradMomentum>(s, n, count);
    case UpdateRule::kYogi:
      return update_loop<UpdateRule::kYogi>(s, n, count);
    case UpdateRule::kLamb:
      return update_loop<UpdateRule::kLamb>(s, n, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(update_all);

void update(UpdateRule rule, const UpdateArrays<float>& arrays, const UpdateNumbers<float>& numbers,
            std::size_t count) {
  HWY_DYNAMIC_DISPATCH(update_all)(rule, arrays, numbers, count);
}

}  // namespace shoal::ops::cpu
#endif
