#pragma once

#include <cmath>
#include <cstddef>

#include "ops/kernels/hd.h"
#include "ops/kernels/math.h"

/// Attention by tiles of queries: products, and between them one pass over each row of weights.
namespace shoal::ops::kernels {

/// Queries of one tile: its weights over all keys stay in a cache, and 36 rows are whole tiles of a
/// product.
constexpr std::size_t kAttentionTile = 36;

/// One row of a tile: scores become weights, row `r` (counted from the tile's first query, which
/// stands at `first`) of places up to first + r; places beyond become 0. Several heads lie one
/// after the other, `rows` each.
template <typename T>
struct AttentionWeights {
  T* scores;    // [heads, rows, stride]
  T* log_sums;  // of the tile's first query of the first head
  std::size_t rows;
  std::size_t keys;  // of the tile: first + rows
  std::size_t stride;
  std::size_t first;
  std::size_t length;  // from one head's log_sums to the next
  T scale;

  SHOAL_HD void operator()(std::size_t index) const {
    const std::size_t row = index % rows;
    T* s = scores + index * stride;
    const std::size_t seen = first + row + 1;
    T top = s[0];
    for (std::size_t k = 1; k < seen; ++k) {
      top = s[k] > top ? s[k] : top;
    }
    T sum = T(0);
    for (std::size_t k = 0; k < seen; ++k) {
      s[k] = exp_exact((s[k] - top) * scale);
      sum += s[k];
    }
    const T share = T(1) / sum;
    for (std::size_t k = 0; k < keys; ++k) {
      s[k] = k < seen ? s[k] * share : T(0);
    }
    log_sums[index / rows * length + row] = top * scale + log_exact(sum);
  }
};

/// One row on the way back: scores become weights again, and dweights become dscores:
/// weight * (dweight - sum over y * dy) * scale.
template <typename T>
struct AttentionWeightsBackward {
  T* scores;    // [heads, rows, stride]; out: weights
  T* dweights;  // alike; out: dscores
  const T* log_sums;
  const T* y;   // of the tile's first query of the first head; rows lie y_stride apart
  const T* dy;  // alike
  std::size_t rows;
  std::size_t keys;
  std::size_t stride;
  std::size_t first;
  std::size_t length;
  std::size_t head_width;
  std::size_t y_stride;
  T scale;

  SHOAL_HD void operator()(std::size_t index) const {
    const std::size_t row = index % rows;
    const std::size_t head = index / rows;
    T* s = scores + index * stride;
    T* d = dweights + index * stride;
    const std::size_t at = row * y_stride + head * head_width;
    T dot = T(0);
    for (std::size_t i = 0; i < head_width; ++i) {
      dot += y[at + i] * dy[at + i];
    }
    const T log_sum = log_sums[head * length + row];
    const std::size_t seen = first + row + 1;
    for (std::size_t k = 0; k < keys; ++k) {
      const T weight = k < seen ? exp_exact(s[k] * scale - log_sum) : T(0);
      s[k] = weight;
      d[k] = k < seen ? weight * (d[k] - dot) * scale : T(0);
    }
  }
};

}  // namespace shoal::ops::kernels
