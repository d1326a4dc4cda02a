#pragma once

#include <cstddef>

#include "ops/kernels/activation_kind.h"
#include "ops/kernels/hd.h"
#include "ops/kernels/math.h"

namespace shoal::ops::kernels {

#define SHOAL_RULE SHOAL_HD
#include "ops/kernels/activation_rules.inc"
#undef SHOAL_RULE

/// max(x, 0) that keeps NaN, so that a broken step is seen and not hidden.
template <typename T>
SHOAL_HD T relu(T x) {
  return x < T(0) ? T(0) : x;
}

/// One element of y = activation(x).
template <typename T, Activation kActivation>
struct Activate {
  const T* x;
  T* y;
  SHOAL_HD void operator()(std::size_t i) const {
    y[i] = activate_rule<kActivation>(PlainMath<T>(), x[i]);
  }
};

/// One element of y = activation(x + bias), x [N, C]; x becomes the slope there where y is other
/// memory. `bias` null: none.
template <typename T, Activation kActivation>
struct BiasActivation {
  T* x;
  const T* bias;
  T* y;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t i) const {
    const T value = bias == nullptr ? x[i] : x[i] + bias[i % cols];
    const T result = activate_rule<kActivation>(PlainMath<T>(), value);
    if (x != y) {
      x[i] = slope_rule<kActivation>(PlainMath<T>(), value, result);
    }
    y[i] = result;
  }
};

/// One column of the way back: dy times the slope in place, its sum put or added, rows in order.
template <typename T, Activation kActivation>
struct BiasActivationBackward {
  const T* kept;
  T* dy;
  T* dbias;
  std::size_t rows;
  std::size_t cols;
  bool add;
  SHOAL_HD void operator()(std::size_t column) const {
    T sum = T(0);
    for (std::size_t i = column; i < rows * cols; i += cols) {
      if (kActivation != Activation::kNone) {
        dy[i] = activate_backward_rule<kActivation>(PlainMath<T>(), kept[i], dy[i]);
      }
      sum = sum + dy[i];
    }
    if (dbias != nullptr) {
      dbias[column] = add ? dbias[column] + sum : sum;
    }
  }
};

/// One element of y = activation(a + b).
template <typename T, Activation kActivation>
struct AddActivation {
  const T* a;
  const T* b;
  T* y;
  SHOAL_HD void operator()(std::size_t i) const {
    y[i] = activate_rule<kActivation>(PlainMath<T>(), a[i] + b[i]);
  }
};

}  // namespace shoal::ops::kernels
