#include "ops/cpu/loss.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/loss.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

using CrossEntropyBody = kernels::SoftmaxCrossEntropy<float>;

/// A row that counts. NaN among the scores makes top NaN or the sum NaN, and so the loss.
HWY_ATTR void cross_entropy_row(const CrossEntropyBody& b, std::size_t row) {
  constexpr float kBelowAll = -std::numeric_limits<float>::infinity();
  const RowTag d;
  const LaneMath<RowTag> math{d};
  const float* x = b.logits + row * b.cols;
  const auto label = static_cast<std::size_t>(b.labels[row]);
  const float chosen = x[label];
  auto highest = hn::Set(d, kBelowAll);
  auto total = hn::Zero(d);
  read_row(x, b.cols, kBelowAll,
           [&](std::size_t, RowVec v) HWY_ATTR { highest = hn::Max(highest, v); });
  const float top = max_of(highest);
  std::size_t best = 0;
  while (best + 1 < b.cols && !(x[best] >= top)) {
    ++best;
  }
  const auto base = hn::Set(d, top);
  // Exponentials are kept where the gradient goes: each is taken once.
  float* dx = b.dlogits == nullptr ? nullptr : b.dlogits + row * b.cols;
  auto far = hn::Zero(d);
  const auto each = [&](std::size_t i, RowVec v) HWY_ATTR {
    const auto e = math.exp(hn::Sub(v, base));
    total = hn::Add(total, e);
    const auto there = hn::FirstN(d, b.cols - i);
    far = hn::Add(far, hn::IfThenElseZero(there, hn::Sub(v, base)));
    return e;
  };
  if (dx == nullptr) {
    read_row(x, b.cols, kBelowAll, each);
  } else {
    map_row(x, dx, b.cols, kBelowAll, each);
  }
  const float sum = sum_of(total);
  const float spread = b.smoothing / static_cast<float>(b.cols);
  const float rest = 1.0F - b.smoothing;
  const float smooth = b.smoothing == 0 ? 0.0F : spread * sum_of(far);
  b.loss[row] = kernels::log_exact(sum) - rest * (chosen - top) - smooth;
  b.correct[row] = best == label ? 1 : 0;
  if (dx != nullptr) {
    const auto factor = hn::Set(d, b.scale / sum);
    const auto off = hn::Set(d, b.scale * spread);
    map_row(dx, dx, b.cols, 0,
            [&](std::size_t, RowVec v) HWY_ATTR { return hn::Sub(hn::Mul(v, factor), off); });
    dx[label] -= b.scale * rest;
  }
}

HWY_ATTR void cross_entropy_all(const CrossEntropyBody& b, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    if (b.ignores && b.labels[row] == b.ignored) {
      b(row);
    } else {
      cross_entropy_row(b, row);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(cross_entropy_all);

void softmax_cross_entropy(const kernels::SoftmaxCrossEntropy<float>& body, std::size_t rows) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_all)(body, rows);
}

}  // namespace shoal::ops::cpu
#endif
