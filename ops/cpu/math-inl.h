// Included once per Highway target, so no #pragma once but Highway's own guard.
#if defined(SHOAL_OPS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_OPS_CPU_MATH_INL_H_
#undef SHOAL_OPS_CPU_MATH_INL_H_
#else
#define SHOAL_OPS_CPU_MATH_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "ops/cpu/lanes-inl.h"
#include "ops/kernels/activation_kind.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

#define SHOAL_RULE HWY_ATTR HWY_INLINE
#include "ops/kernels/math_rules.inc"

/// As kernels::PlainMath, on lanes of D: the same operations, so the same bits.
template <typename D>
struct LaneMath {
  using V = hn::Vec<D>;
  D d;
  HWY_ATTR HWY_INLINE V num(double x) const { return hn::Set(d, static_cast<float>(x)); }
  HWY_ATTR HWY_INLINE V infinity() const {
    return hn::Set(d, std::numeric_limits<float>::infinity());
  }
  HWY_ATTR HWY_INLINE V add(V a, V b) const { return hn::Add(a, b); }
  HWY_ATTR HWY_INLINE V sub(V a, V b) const { return hn::Sub(a, b); }
  HWY_ATTR HWY_INLINE V mul(V a, V b) const { return hn::Mul(a, b); }
  HWY_ATTR HWY_INLINE V div(V a, V b) const { return hn::Div(a, b); }
  HWY_ATTR HWY_INLINE V if_less(V a, V b, V yes, V no) const {
    return hn::IfThenElse(hn::Lt(a, b), yes, no);
  }
  HWY_ATTR HWY_INLINE V magnitude(V a) const { return hn::Abs(a); }
  HWY_ATTR HWY_INLINE V with_sign(V a, V b) const { return hn::CopySign(a, b); }
  HWY_ATTR HWY_INLINE V scale2(V a, V shifted) const {
    const hn::RebindToUnsigned<D> du;
    const auto power = hn::Add(hn::ShiftLeft<23>(hn::BitCast(du, shifted)),
                               hn::Set(du, std::uint32_t{0x3F800000U}));
    return hn::Mul(a, hn::BitCast(d, power));
  }
  HWY_ATTR HWY_INLINE void split2(V x, V& m, V& n) const {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::BitCast(du, x);
    m = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(du, std::uint32_t{0x007FFFFFU})),
                              hn::Set(du, std::uint32_t{0x3F000000U})));
    n = hn::ConvertTo(d, hn::Sub(hn::BitCast(di, hn::ShiftRight<23>(bits)), hn::Set(di, 126)));
  }
  HWY_ATTR HWY_INLINE V exp(V x) const { return exp_rule(*this, x); }
  HWY_ATTR HWY_INLINE V tanh(V x) const { return tanh_rule(*this, x); }
  HWY_ATTR HWY_INLINE void normal(V x, V& share, V& density) const {
    normal_rule(*this, x, share, density);
  }
};

#include "ops/kernels/activation_rules.inc"
#undef SHOAL_RULE

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#endif
