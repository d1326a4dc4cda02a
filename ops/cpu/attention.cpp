#include "ops/cpu/attention.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

using Tile = kernels::AttentionWeights<float>;
using TileBackward = kernels::AttentionWeightsBackward<float>;

constexpr float kBelowAll = -std::numeric_limits<float>::infinity();

/// Calls each(i, there) for the vectors of a row of a tile; `there` holds for places that are seen.
/// Rows of tiles are as long as whole vectors, so that none needs a part of one.
template <typename Each>
HWY_ATTR HWY_INLINE void for_seen(std::size_t seen, const Each& each) {
  const RowTag d;
  const std::size_t wide = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + wide <= seen; i += wide) {
    each(i, hn::FirstN(d, wide));
  }
  if (i < seen) {
    each(i, hn::FirstN(d, seen - i));
  }
}

/// Zeros from the vector after the last that is seen to the end of the keys.
HWY_ATTR HWY_INLINE void clear_rest(float* row, std::size_t seen, std::size_t keys) {
  const std::size_t wide = hn::Lanes(RowTag());
  const std::size_t first = (seen + wide - 1) / wide * wide;
  std::fill(row + first, row + std::max(first, keys), 0.0F);
}

HWY_ATTR void weights_row(const Tile& t, std::size_t row) {
  const RowTag d;
  const LaneMath<RowTag> math{d};
  float* s = t.scores + row * t.stride;
  const std::size_t seen = t.first + row + 1;
  const auto below = hn::Set(d, kBelowAll);
  auto top = below;
  for_seen(seen, [&](std::size_t i, auto there) HWY_ATTR {
    top = hn::Max(top, hn::IfThenElse(there, hn::Load(d, s + i), below));
  });
  const float highest = max_of(top);
  const auto base = hn::Set(d, highest);
  const auto scale = hn::Set(d, t.scale);
  auto sum = hn::Zero(d);
  for_seen(seen, [&](std::size_t i, auto there) HWY_ATTR {
    const auto e = math.exp(hn::Mul(hn::Sub(hn::Load(d, s + i), base), scale));
    const auto kept = hn::IfThenElseZero(there, e);
    sum = hn::Add(sum, kept);
    hn::Store(kept, d, s + i);
  });
  const float total = sum_of(sum);
  const auto share = hn::Set(d, 1.0F / total);
  for_seen(seen, [&](std::size_t i, auto)
                     HWY_ATTR { hn::Store(hn::Mul(hn::Load(d, s + i), share), d, s + i); });
  clear_rest(s, seen, t.keys);
  t.log_sums[row] = highest * t.scale + kernels::log_exact(total);
}

HWY_ATTR void weights_all(const Tile& t, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    weights_row(t, row);
  }
}

HWY_ATTR void weights_backward_row(const TileBackward& t, std::size_t row) {
  const RowTag d;
  const LaneMath<RowTag> math{d};
  float* s = t.scores + row * t.stride;
  float* dw = t.dweights + row * t.stride;
  const float* y = t.y + row * t.y_stride;
  const float* dy = t.dy + row * t.y_stride;
  auto product = hn::Zero(d);
  const std::size_t wide = hn::Lanes(d);
  read_row(y, t.head_width, 0, [&](std::size_t i, RowVec v) HWY_ATTR {
    const std::size_t left = t.head_width - i;
    const auto other = left >= wide ? hn::LoadU(d, dy + i) : load_part(dy + i, left, 0);
    product = hn::Add(product, hn::Mul(v, other));
  });
  const auto dot = hn::Set(d, sum_of(product));
  const auto log_sum = hn::Set(d, t.log_sums[row]);
  const auto scale = hn::Set(d, t.scale);
  const std::size_t seen = t.first + row + 1;
  for_seen(seen, [&](std::size_t i, auto there) HWY_ATTR {
    const auto e = math.exp(hn::Sub(hn::Mul(hn::Load(d, s + i), scale), log_sum));
    const auto weight = hn::IfThenElseZero(there, e);
    const auto slope = hn::Sub(hn::Load(d, dw + i), dot);
    hn::Store(weight, d, s + i);
    hn::Store(hn::IfThenElseZero(there, hn::Mul(hn::Mul(weight, slope), scale)), d, dw + i);
  });
  clear_rest(s, seen, t.keys);
  clear_rest(dw, seen, t.keys);
}

HWY_ATTR void weights_backward_all(const TileBackward& t, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    weights_backward_row(t, row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(weights_all);
HWY_EXPORT(weights_backward_all);

void attention_weights(const kernels::AttentionWeights<float>& tile, std::size_t rows) {
  HWY_DYNAMIC_DISPATCH(weights_all)(tile, rows);
}

void attention_weights_backward(const kernels::AttentionWeightsBackward<float>& tile,
                                std::size_t rows) {
  HWY_DYNAMIC_DISPATCH(weights_backward_all)(tile, rows);
}

}  // namespace shoal::ops::cpu
#endif
