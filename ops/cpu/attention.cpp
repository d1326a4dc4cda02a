#include "ops/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/cpu/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/math-inl.h"

#ifndef SHOAL_OPS_CPU_ATTENTION_BLOCK
#define SHOAL_OPS_CPU_ATTENTION_BLOCK
namespace shoal::ops::cpu {
namespace {

constexpr std::size_t kQueries = 64;  // of a block: a panel of the widest vectors
constexpr std::size_t kGroup = 16;    // of them, for which the same keys are computed

/// Scores of `queries` queries, the first at place `first`: [first + queries, kQueries].
struct Block {
  float* scores;
  std::size_t first;
  std::size_t queries;
  float scale;

  /// Keys that the group of query `query` computes.
  [[nodiscard]] std::size_t keys(std::size_t query) const {
    return first + std::min(query / kGroup * kGroup + kGroup, queries);
  }
};

}  // namespace
}  // namespace shoal::ops::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

using Tag = hn::CappedTag<float, kGroup>;
using V = hn::Vec<Tag>;

/// Calls each(score, there) for the keys of a vector of queries that begins with `query`; `there`
/// holds for queries that see the key, all do before `diagonal`.
template <typename Each>
HWY_ATTR HWY_INLINE void for_keys(const Block& b, std::size_t query, const Each& each) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t diagonal = b.first + query + 1;
  const auto all = hn::FirstN(d, lanes);
  const auto lane = hn::Iota(d, 0);
  float* at = b.scores + query;
  std::size_t key = 0;
  for (; key < diagonal; ++key, at += kQueries) {
    each(at, all);
  }
  const std::size_t last = std::min(diagonal + lanes - 1, b.keys(query));
  for (float before = 1; key < last; ++key, at += kQueries, before += 1) {
    each(at, hn::Ge(lane, hn::Set(d, before)));
  }
}

/// Zeros at keys of the group that no lane sees.
HWY_ATTR HWY_INLINE void clear_unseen(const Block& b, std::size_t query, float* scores) {
  const Tag d;
  for (std::size_t key = b.first + query + hn::Lanes(d); key < b.keys(query); ++key) {
    hn::Store(hn::Zero(d), d, scores + key * kQueries + query);
  }
}

/// Scores of a vector of queries become weights; gives the logarithms of their sums.
HWY_ATTR V weights_of(const Block& b, std::size_t query) {
  const Tag d;
  const LaneMath<Tag> math{d};
  const auto below = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto top = below;
  for_keys(b, query, [&](const float* at, auto there) HWY_ATTR {
    top = hn::Max(top, hn::IfThenElse(there, hn::Load(d, at), below));
  });
  const auto scale = hn::Set(d, b.scale);
  auto sum = hn::Zero(d);
  for_keys(b, query, [&](float* at, auto there) HWY_ATTR {
    const auto e = math.exp(hn::Mul(hn::Sub(hn::Load(d, at), top), scale));
    const auto kept = hn::IfThenElseZero(there, e);
    sum = hn::Add(sum, kept);
    hn::Store(kept, d, at);
  });
  const auto share = hn::Div(hn::Set(d, 1.0F), sum);
  for_keys(b, query,
           [&](float* at, auto) HWY_ATTR { hn::Store(hn::Mul(hn::Load(d, at), share), d, at); });
  clear_unseen(b, query, b.scores);
  return hn::Add(hn::Mul(top, scale), log_rule(math, sum));
}

/// Scores become weights.
HWY_ATTR void weights_all(const Block& b, float* log_sums) {
  const Tag d;
  HWY_ALIGN float logs[kQueries];
  for (std::size_t query = 0; query < b.queries; query += hn::Lanes(d)) {
    hn::Store(weights_of(b, query), d, logs + query);
  }
  std::copy_n(logs, b.queries, log_sums);
}

/// Scores become weights again, and gradients of weights those of scores.
HWY_ATTR void weights_backward_all(const Block& b, const float* log_sums, float* dweights) {
  const Tag d;
  const LaneMath<Tag> math{d};
  HWY_ALIGN float logs[kQueries] = {};
  std::copy_n(log_sums, b.queries, logs);
  const auto scale = hn::Set(d, b.scale);
  const std::ptrdiff_t apart = dweights - b.scores;
  for (std::size_t query = 0; query < b.queries; query += hn::Lanes(d)) {
    const auto log_sum = hn::Load(d, logs + query);
    auto dot = hn::Zero(d);
    auto sum = hn::Zero(d);
    for_keys(b, query, [&](float* at, auto there) HWY_ATTR {
      const auto e = math.exp(hn::Sub(hn::Mul(hn::Load(d, at), scale), log_sum));
      const auto weight = hn::IfThenElseZero(there, e);
      const auto slope = hn::IfThenElseZero(there, hn::Load(d, at + apart));
      dot = hn::Add(dot, hn::Mul(weight, slope));
      sum = hn::Add(sum, weight);
      hn::Store(weight, d, at);
    });
    // The rounding of log_sum is in all weights, and would outweigh what is left of slope - dot.
    dot = hn::Div(dot, sum);
    for_keys(b, query, [&](float* at, auto there) HWY_ATTR {
      const auto slope = hn::Mul(hn::Sub(hn::Load(d, at + apart), dot), scale);
      const auto dscore = hn::IfThenElseZero(there, hn::Mul(hn::Load(d, at), slope));
      hn::Store(dscore, d, at + apart);
    });
    clear_unseen(b, query, b.scores);
    clear_unseen(b, query, dweights);
  }
}

/// Rows of `width` numbers, `from_stride` apart, side by side.
HWY_ATTR void copy_rows_all(const float* from, std::size_t from_stride, std::size_t rows,
                            std::size_t width, float* to, std::size_t to_stride) {
  for (std::size_t row = 0; row < rows; ++row, from += from_stride, to += to_stride) {
    for_each_lane(0, width, [=](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {
namespace {

HWY_EXPORT(weights_all);
HWY_EXPORT(weights_backward_all);
HWY_EXPORT(copy_rows_all);

float scale_of(const AttentionHead& head) {
  return 1.0F / std::sqrt(static_cast<float>(head.width));
}

/// Rows of numbers side by side: a right side that products read where it lies.
struct Rows {
  const float* data;
  std::size_t stride;
  std::size_t width;

  [[nodiscard]] ProductRight from(std::size_t row) const {
    return {data + row * stride, 1, stride, width};
  }
};

Rows copy_rows(const float* from, std::size_t stride, std::size_t rows, std::size_t width,
               Room& room) {
  const std::size_t to_stride = (width + kGroup - 1) / kGroup * kGroup;
  float* to = room.get(rows * to_stride);
  HWY_DYNAMIC_DISPATCH(copy_rows_all)(from, stride, rows, width, to, to_stride);
  return {to, to_stride, width};
}

/// out = keys turned over those pairs that are seen, and the rest of their groups. `turned`:
/// [width, kQueries].
void score(const Block& b, const float* keys, std::size_t stride, const float* turned,
           std::size_t width, float* out) {
  if (b.first > 0) {
    product(ProductLeft{keys, stride, stride, 1}, {turned, 1, kQueries, b.queries}, width, out,
            kQueries, b.first, b.queries, false);
  }
  for (std::size_t i = 0; i < b.queries; i += kGroup) {
    const std::size_t left = b.queries - i;
    product(ProductLeft{keys + (b.first + i) * stride, stride, stride, 1},
            {turned + i, 1, kQueries, left}, width, out + (b.first + i) * kQueries + i, kQueries,
            std::min(kGroup, left), left, false);
  }
}

/// to = weights rows, for each query the sum over its keys.
void sum_keys(const Block& b, const float* weights, const Rows& rows, float* to,
              std::size_t to_stride) {
  for (std::size_t i = 0; i < b.queries; i += kGroup) {
    product(ProductLeft{weights + i, 1, 1, kQueries}, rows.from(0), b.keys(i), to + i * to_stride,
            to_stride, std::min(kGroup, b.queries - i), rows.width, false);
  }
}

/// to = weights^T rows (+ to), for each key the sum over queries that see it.
void sum_queries(const Block& b, const float* weights, const Rows& rows, float* to,
                 std::size_t to_stride, bool add) {
  if (b.first > 0) {
    product(ProductLeft{weights, kQueries, kQueries, 1}, rows.from(0), b.queries, to, to_stride,
            b.first, rows.width, add);
  }
  for (std::size_t i = 0; i < b.queries; i += kGroup) {
    const std::size_t left = b.queries - i;
    product(ProductLeft{weights + (b.first + i) * kQueries + i, kQueries, kQueries, 1},
            rows.from(i), left, to + (b.first + i) * to_stride, to_stride, std::min(kGroup, left),
            rows.width, add);
  }
}

}  // namespace

void Attention::forward(const AttentionHead& head, float* y, std::size_t y_stride,
                        float* log_sums) {
  const Rows values = copy_rows(head.v, head.stride, head.length, head.width, rows_[0]);
  float* turned = turned_.get(head.width * kQueries);
  float* scores = scores_.get(head.length * kQueries);
  for (std::size_t first = 0; first < head.length; first += kQueries) {
    const Block b{scores, first, std::min(kQueries, head.length - first), scale_of(head)};
    transpose(head.q + first * head.stride, head.stride, head.width, b.queries, turned, kQueries);
    score(b, head.k, head.stride, turned, head.width, scores);
    HWY_DYNAMIC_DISPATCH(weights_all)(b, log_sums + first);
    sum_keys(b, scores, values, y + first * y_stride, y_stride);
  }
}

void Attention::backward(const AttentionHead& head, const float* log_sums, const float* dy,
                         std::size_t dy_stride, const Gradients& gradients) {
  const std::size_t width = head.width;
  const std::size_t stride = head.stride;
  const Rows keys = copy_rows(head.k, stride, head.length, width, rows_[0]);
  float* turned = turned_.get(width * kQueries);
  float* scores = scores_.get(head.length * kQueries);
  float* dscores = dscores_.get(head.length * kQueries);
  // From the last block, which sees all keys and so puts their gradients; the others add.
  for (std::size_t end = head.length; end > 0;) {
    const std::size_t first = (end - 1) / kQueries * kQueries;
    const Block b{scores, first, end - first, scale_of(head)};
    const bool add = end < head.length;
    const float* q = head.q + first * stride;
    const Rows queries = copy_rows(q, stride, b.queries, width, rows_[1]);
    const Rows outputs = copy_rows(dy + first * dy_stride, dy_stride, b.queries, width, rows_[2]);
    transpose(queries.data, queries.stride, width, b.queries, turned, kQueries);
    score(b, head.k, stride, turned, width, scores);
    transpose(outputs.data, outputs.stride, width, b.queries, turned, kQueries);
    score(b, head.v, stride, turned, width, dscores);
    HWY_DYNAMIC_DISPATCH(weights_backward_all)(b, log_sums + first, dscores);
    sum_keys(b, dscores, keys, gradients.q + first * stride, stride);
    sum_queries(b, dscores, queries, gradients.k, stride, add);
    sum_queries(b, scores, outputs, gradients.v, stride, add);
    end = first;
  }
}

}  // namespace shoal::ops::cpu
#endif
