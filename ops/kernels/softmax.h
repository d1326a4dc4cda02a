#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/kernels/hd.h"
#include "ops/kernels/math.h"

namespace shoal::ops::kernels {

/// One row of softmax cross-entropy, forward and backward in one pass. The row's maximum is
/// subtracted first, so that no exponential overflows.
template <typename T>
struct SoftmaxCrossEntropy {
  const T* logits;
  const std::int32_t* labels;
  T scale;
  T* dlogits;  // null: not wanted; may be logits
  T* loss;
  std::int32_t* correct;
  std::size_t cols;

  SHOAL_HD void operator()(std::size_t row) const {
    const T* x = logits + row * cols;
    const std::size_t label = static_cast<std::size_t>(labels[row]);
    std::size_t best = 0;
    for (std::size_t c = 1; c < cols; ++c) {
      best = x[c] > x[best] ? c : best;
    }
    const T top = x[best];
    T sum = T(0);
    for (std::size_t c = 0; c < cols; ++c) {
      sum += exp_exact(x[c] - top);
    }
    loss[row] = log_exact(sum) - (x[label] - top);
    correct[row] = best == label ? 1 : 0;
    if (dlogits == nullptr) {
      return;
    }
    T* dx = dlogits + row * cols;
    const T factor = scale / sum;
    for (std::size_t c = 0; c < cols; ++c) {
      dx[c] = factor * exp_exact(x[c] - top) - (c == label ? scale : T(0));
    }
  }
};

}  // namespace shoal::ops::kernels
