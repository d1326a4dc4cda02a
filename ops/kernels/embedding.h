#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/kernels/hd.h"

namespace shoal::ops::kernels {

/// One element of y = rows of weight [V, cols] by index.
template <typename T>
struct Embed {
  const std::int32_t* tokens;
  const T* weight;
  T* y;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t row = static_cast<std::size_t>(tokens[i / cols]);
    y[i] = weight[row * cols + i % cols];
  }
};

/// One column of the way back: rows of dy added to where they came from, in the order of tokens.
template <typename T>
struct EmbedBackward {
  const std::int32_t* tokens;
  const T* dy;
  T* dweight;
  std::size_t rows;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t column) const {
    for (std::size_t r = 0; r < rows; ++r) {
      T& sum = dweight[static_cast<std::size_t>(tokens[r]) * cols + column];
      sum = sum + dy[r * cols + column];
    }
  }
};

/// One element of y[:, t] = x[:, t - 1], y[:, 0] = 0; x, y [N, length, cols].
template <typename T>
struct ShiftTime {
  const T* x;
  T* y;
  std::size_t length;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t i) const {
    y[i] = i / cols % length == 0 ? T(0) : x[i - cols];
  }
};

}  // namespace shoal::ops::kernels
