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

HWY_ATTR void weights_row(const Tile& t, std::size_t row) {
  const RowTag d;
  const LaneMath<RowTag> math{d};
  float* s = t.scores + row * t.stride;
  const std::size_t seen = t.first + row + 1;
  auto top = hn::Set(d, kBelowAll);
  read_row(s, seen, kBelowAll, [&](std::size_t, RowVec v) HWY_ATTR { top = hn::Max(top, v); });
  const float highest = max_of(top);
  const auto base = hn::Set(d, highest);
  const auto scale = hn::Set(d, t.scale);
  auto sum = hn::Zero(d);
  map_row(s, s, seen, kBelowAll, [&](std::size_t, RowVec v) HWY_ATTR {
    const auto e = math.exp(hn::Mul(hn::Sub(v, base), scale));
    sum = hn::Add(sum, e);
    return e;
  });
  const float total = sum_of(sum);
  const auto share = hn::Set(d, 1.0F / total);
  map_row(s, s, seen, 0, [&](std::size_t, RowVec v) HWY_ATTR { return hn::Mul(v, share); });
  std::fill(s + seen, s + t.keys, 0.0F);
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
  map_row(s, s, seen, 0, [&](std::size_t i, RowVec v) HWY_ATTR {
    const auto weight = math.exp(hn::Sub(hn::Mul(v, scale), log_sum));
    const std::size_t left = seen - i;
    const auto slope = left >= wide ? hn::LoadU(d, dw + i) : load_part(dw + i, left, 0);
    const auto score = hn::Mul(hn::Mul(weight, hn::Sub(slope, dot)), scale);
    if (left >= wide) {
      hn::StoreU(score, d, dw + i);
    } else {
      store_part(score, dw + i, left);
    }
    return weight;
  });
  std::fill(s + seen, s + t.keys, 0.0F);
  std::fill(dw + seen, dw + t.keys, 0.0F);
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
