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
  T smoothing;
  std::int32_t ignored;
  bool ignores;
  T* dlogits;  // null: not wanted; may be logits
  T* loss;
  std::int32_t* correct;
  std::size_t cols;

  SHOAL_HD void operator()(std::size_t row) const {
    const T* x = logits + row * cols;
    T* dx = dlogits == nullptr ? nullptr : dlogits + row * cols;
    if (ignores && labels[row] == ignored) {
      loss[row] = T(0);
      correct[row] = -1;
      for (std::size_t c = 0; dx != nullptr && c < cols; ++c) {
        dx[c] = T(0);
      }
      return;
    }
    const std::size_t label = static_cast<std::size_t>(labels[row]);
    std::size_t best = 0;
    for (std::size_t c = 1; c < cols; ++c) {
      best = x[c] > x[best] ? c : best;
    }
    const T top = x[best];
    T sum = T(0);
    T distance = T(0);  // of all scores from the top
    for (std::size_t c = 0; c < cols; ++c) {
      sum += exp_exact(x[c] - top);
      distance += x[c] - top;
    }
    const T spread = smoothing / static_cast<T>(cols);
    const T rest = T(1) - smoothing;
    loss[row] = log_exact(sum) - rest * (x[label] - top) - spread * distance;
    correct[row] = best == label ? 1 : 0;
    const T factor = scale / sum;
    for (std::size_t c = 0; dx != nullptr && c < cols; ++c) {
      const T target = c == label ? rest + spread : spread;
      dx[c] = factor * exp_exact(x[c] - top) - scale * target;
    }
  }
};

/// One row of the mean of squared differences.
template <typename T>
struct SquaredError {
  const T* output;
  const T* targets;
  T scale;
  T* doutput;  // null: not wanted; may be output
  T* loss;
  std::size_t cols;

  SHOAL_HD void operator()(std::size_t row) const {
    const T share = T(1) / static_cast<T>(cols);
    T sum = T(0);
    for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
      const T difference = output[i] - targets[i];
      sum += difference * difference;
      if (doutput != nullptr) {
        doutput[i] = T(2) * share * scale * difference;
      }
    }
    loss[row] = sum * share;
  }
};

/// One row of cross-entropy of yes or no for each column, from scores before the sigmoid.
template <typename T>
struct BinaryCrossEntropy {
  const T* logits;
  const T* targets;
  T scale;
  T* dlogits;  // null: not wanted; may be logits
  T* loss;
  std::int32_t* correct;
  std::size_t cols;

  SHOAL_HD void operator()(std::size_t row) const {
    const T share = T(1) / static_cast<T>(cols);
    T sum = T(0);
    std::int32_t hit = 1;
    for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
      const T x = logits[i];
      const T t = targets[i];
      // e^-|x| never overflows: log(1 + e^x) = max(x, 0) + log(1 + e^-|x|).
      const T small = exp_exact(x < T(0) ? x : -x);
      sum += (x > T(0) ? x : T(0)) - x * t + log_exact(T(1) + small);
      hit = (x > T(0)) == (t > T(0.5)) ? hit : 0;
      if (dlogits != nullptr) {
        const T s = (x < T(0) ? small : T(1)) / (T(1) + small);
        dlogits[i] = share * scale * (s - t);
      }
    }
    loss[row] = sum * share;
    correct[row] = hit;
  }
};

}  // namespace shoal::ops::kernels
