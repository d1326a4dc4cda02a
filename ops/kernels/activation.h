#pragma once

#include <cstddef>

#include "ops/kernels/hd.h"

namespace shoal::ops::kernels {

/// max(x, 0) that keeps NaN, so that a broken step is seen and not hidden.
template <typename T>
SHOAL_HD T relu(T x) {
  return x < T(0) ? T(0) : x;
}

/// One element of y = max(x, 0).
template <typename T>
struct Relu {
  const T* x;
  T* y;
  SHOAL_HD void operator()(std::size_t i) const { y[i] = relu(x[i]); }
};

/// One element of y = activation(a + b).
template <typename T>
struct AddActivation {
  const T* a;
  const T* b;
  T* y;
  bool with_relu;
  SHOAL_HD void operator()(std::size_t i) const {
    const T sum = a[i] + b[i];
    y[i] = with_relu ? relu(sum) : sum;
  }
};

/// One element of y = activation(y + bias), y [N, C]. `bias` null: none.
template <typename T>
struct BiasActivation {
  T* y;
  const T* bias;
  std::size_t cols;
  bool with_relu;
  SHOAL_HD void operator()(std::size_t i) const {
    const T value = bias == nullptr ? y[i] : y[i] + bias[i % cols];
    y[i] = with_relu ? relu(value) : value;
  }
};

/// One column of the way back: dy masked by y in place, its sum put or added, rows in order.
template <typename T>
struct BiasActivationBackward {
  const T* y;
  T* dy;
  T* dbias;
  std::size_t rows;
  std::size_t cols;
  bool with_relu;
  bool add;
  SHOAL_HD void operator()(std::size_t column) const {
    T sum = T(0);
    for (std::size_t i = column; i < rows * cols; i += cols) {
      if (with_relu && y[i] <= T(0)) {
        dy[i] = T(0);
      }
      sum = sum + dy[i];
    }
    if (dbias != nullptr) {
      dbias[column] = add ? dbias[column] + sum : sum;
    }
  }
};

}  // namespace shoal::ops::kernels
