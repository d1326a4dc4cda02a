#include "ops/cpu/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/norm.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

using Wide = hn::ScalableTag<float>;

/// Sum of term(tag, i) over i < count, in four chains of lanes so that additions overlap.
template <typename Term>
HWY_ATTR HWY_INLINE float sum_of(std::size_t count, const Term& term) {
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  auto s2 = hn::Zero(d);
  auto s3 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, term(d, i));
    s1 = hn::Add(s1, term(d, i + lanes));
    s2 = hn::Add(s2, term(d, i + 2 * lanes));
    s3 = hn::Add(s3, term(d, i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) {
    s0 = hn::Add(s0, term(d, i));
  }
  s0 = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  float total = hn::GetLane(hn::SumOfLanes(d, s0));
  const hn::CappedTag<float, 1> single;
  for (; i < count; ++i) {
    total += hn::GetLane(term(single, i));
  }
  return total;
}

HWY_ATTR float sum_all(const float* x, std::size_t count) {
  return sum_of(count, [=](auto d, std::size_t i) HWY_ATTR { return hn::LoadU(d, x + i); });
}

HWY_ATTR float squares_all(const float* x, float mean, std::size_t count) {
  return sum_of(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto apart = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(apart, apart);
  });
}

HWY_ATTR GradientSums gradient_sums_all(const float* x, const float* dy, float mean, float factor,
                                        std::size_t count) {
  const float product = sum_of(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto apart = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(hn::LoadU(d, dy + i), apart);
  });
  return {sum_all(dy, count), product * factor};
}

HWY_ATTR void affine_all(const float* x, float mean, float scale, float shift, float* y,
                         std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto apart = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    hn::StoreU(hn::Add(hn::Mul(apart, hn::Set(d, scale)), hn::Set(d, shift)), d, y + i);
  });
}

HWY_ATTR void affine_gradient_all(const float* x, float mean, const float* dy,
                                  const AffineGradient& g, float* dx, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto apart = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    const auto fixed = hn::Add(hn::Mul(apart, hn::Set(d, g.slope)), hn::Set(d, g.shift));
    hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, dy + i), hn::Set(d, g.scale)), fixed), d, dx + i);
  });
}

HWY_ATTR void scale_row_all(const float* x, float mean, float factor, const float* weight,
                            const float* bias, float* y, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto apart = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    auto value = hn::Mul(hn::Mul(apart, hn::Set(d, factor)), hn::LoadU(d, weight + i));
    if (bias != nullptr) {
      value = hn::Add(value, hn::LoadU(d, bias + i));
    }
    hn::StoreU(value, d, y + i);
  });
}

HWY_ATTR void row_gradient_all(const RowGradient& r, std::size_t count) {
  const float n = static_cast<float>(count);
  const auto g = [&r](auto d, std::size_t i) HWY_ATTR {
    return hn::Mul(hn::LoadU(d, r.dy + i), hn::LoadU(d, r.weight + i));
  };
  const auto h = [&r](auto d, std::size_t i) HWY_ATTR {
    return hn::Mul(hn::Sub(hn::LoadU(d, r.x + i), hn::Set(d, r.mean)), hn::Set(d, r.factor));
  };
  float mean_g = 0;
  float mean_gh = 0;
  if (r.dx != nullptr) {
    mean_g = r.centered ? sum_of(count, g) / n : 0.0F;
    mean_gh =
        sum_of(count, [&](auto d, std::size_t i) HWY_ATTR { return hn::Mul(g(d, i), h(d, i)); }) /
        n;
  }
  for_each_lane(0, count, [&](auto d, std::size_t i) HWY_ATTR {
    const auto dy = hn::LoadU(d, r.dy + i);
    const auto hat = h(d, i);
    if (r.dbias != nullptr) {
      hn::StoreU(hn::Add(hn::LoadU(d, r.dbias + i), dy), d, r.dbias + i);
    }
    if (r.dweight != nullptr) {
      hn::StoreU(hn::Add(hn::LoadU(d, r.dweight + i), hn::Mul(dy, hat)), d, r.dweight + i);
    }
    if (r.dx != nullptr) {
      const auto inside =
          hn::Sub(hn::Sub(g(d, i), hn::Set(d, mean_g)), hn::Mul(hat, hn::Set(d, mean_gh)));
      hn::StoreU(hn::Mul(inside, hn::Set(d, r.factor)), d, r.dx + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(sum_all);
HWY_EXPORT(squares_all);
HWY_EXPORT(gradient_sums_all);
HWY_EXPORT(affine_all);
HWY_EXPORT(affine_gradient_all);
HWY_EXPORT(scale_row_all);
HWY_EXPORT(row_gradient_all);

float sum(const float* x, std::size_t count) { return HWY_DYNAMIC_DISPATCH(sum_all)(x, count); }

float squares(const float* x, float mean, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(squares_all)(x, mean, count);
}

GradientSums gradient_sums(const float* x, const float* dy, float mean, float factor,
                           std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(gradient_sums_all)(x, dy, mean, factor, count);
}

void affine(const float* x, float mean, float scale, float shift, float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(affine_all)(x, mean, scale, shift, y, count);
}

void affine_gradient(const float* x, float mean, const float* dy, const AffineGradient& g,
                     float* dx, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(affine_gradient_all)(x, mean, dy, g, dx, count);
}

void scale_row(const float* x, float mean, float factor, const float* weight, const float* bias,
               float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale_row_all)(x, mean, factor, weight, bias, y, count);
}

void row_gradient(const RowGradient& row, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(row_gradient_all)(row, count);
}

}  // namespace shoal::ops::cpu
#endif
