#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/kernels/conv_sizes.h"
#include "ops/kernels/hd.h"

namespace shoal::ops::kernels {

/// One element of a max pooling; padding never wins. The first of equals wins; NaN wins over all.
template <typename T>
struct MaxPool {
  ShoalPoolSizes s;
  const T* x;
  T* y;
  std::uint8_t* argmax;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t left = i % s.out_width * s.stride - s.padding;
    const std::size_t top = i / s.out_width % s.out_height * s.stride - s.padding;
    const T* plane = x + i / (s.out_width * s.out_height) * s.height * s.width;
    T best = T(0);
    std::size_t at = s.kernel * s.kernel;
    for (std::size_t w = 0; w < s.kernel * s.kernel; ++w) {
      const std::size_t row = top + w / s.kernel;
      const std::size_t column = left + w % s.kernel;
      if (row < s.height && column < s.width) {
        const T value = plane[row * s.width + column];
        if (at == s.kernel * s.kernel || value > best || value != value) {
          best = value;
          at = w;
        }
      }
    }
    y[i] = best;
    argmax[i] = static_cast<std::uint8_t>(at);
  }
};

/// The windows that hold one element of x: rows and columns of the result, [begin, end).
struct PoolWindows {
  std::size_t row_begin;
  std::size_t row_end;
  std::size_t column_begin;
  std::size_t column_end;
};

SHOAL_HD inline std::size_t first_window(std::size_t padded, const ShoalPoolSizes& s) {
  return padded < s.kernel ? 0 : (padded - s.kernel) / s.stride + 1;
}
SHOAL_HD inline std::size_t end_window(std::size_t padded, const ShoalPoolSizes& s,
                                       std::size_t windows) {
  const std::size_t end = padded / s.stride + 1;
  return end < windows ? end : windows;
}
SHOAL_HD inline PoolWindows windows_of(std::size_t i, const ShoalPoolSizes& s) {
  const std::size_t row = i / s.width % s.height + s.padding;
  const std::size_t column = i % s.width + s.padding;
  return {first_window(row, s), end_window(row, s, s.out_height), first_window(column, s),
          end_window(column, s, s.out_width)};
}

/// One element of x's gradient: dy of the windows whose largest it was, in order.
template <typename T>
struct MaxPoolBackward {
  ShoalPoolSizes s;
  const T* dy;
  const std::uint8_t* argmax;
  T* dx;
  SHOAL_HD void operator()(std::size_t i) const {
    const PoolWindows w = windows_of(i, s);
    const std::size_t row = i / s.width % s.height + s.padding;
    const std::size_t column = i % s.width + s.padding;
    const std::size_t plane = i / (s.width * s.height);
    T sum = T(0);
    for (std::size_t r = w.row_begin; r < w.row_end; ++r) {
      for (std::size_t c = w.column_begin; c < w.column_end; ++c) {
        const std::size_t at = (plane * s.out_height + r) * s.out_width + c;
        if (argmax[at] == (row - r * s.stride) * s.kernel + column - c * s.stride) {
          sum += dy[at];
        }
      }
    }
    dx[i] = sum;
  }
};

/// One element of an average pooling; padding counts as zeros, as PyTorch's default.
template <typename T>
struct AvgPool {
  ShoalPoolSizes s;
  const T* x;
  T* y;
  SHOAL_HD void operator()(std::size_t i) const {
    const std::size_t left = i % s.out_width * s.stride - s.padding;
    const std::size_t top = i / s.out_width % s.out_height * s.stride - s.padding;
    const T* plane = x + i / (s.out_width * s.out_height) * s.height * s.width;
    T sum = T(0);
    for (std::size_t w = 0; w < s.kernel * s.kernel; ++w) {
      const std::size_t row = top + w / s.kernel;
      const std::size_t column = left + w % s.kernel;
      sum += row < s.height && column < s.width ? plane[row * s.width + column] : T(0);
    }
    y[i] = sum / static_cast<T>(s.kernel * s.kernel);
  }
};

template <typename T>
struct AvgPoolBackward {
  ShoalPoolSizes s;
  const T* dy;
  T* dx;
  SHOAL_HD void operator()(std::size_t i) const {
    const PoolWindows w = windows_of(i, s);
    const std::size_t plane = i / (s.width * s.height);
    T sum = T(0);
    for (std::size_t r = w.row_begin; r < w.row_end; ++r) {
      for (std::size_t c = w.column_begin; c < w.column_end; ++c) {
        sum += dy[(plane * s.out_height + r) * s.out_width + c];
      }
    }
    dx[i] = sum / static_cast<T>(s.kernel * s.kernel);
  }
};

/// The mean of one row of x [rows, cols].
template <typename T>
struct RowMean {
  const T* x;
  T* y;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t row) const {
    T sum = T(0);
    for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
      sum += x[i];
    }
    y[row] = sum / static_cast<T>(cols);
  }
};

/// One element of its gradient.
template <typename T>
struct RowMeanBackward {
  const T* dy;
  T* dx;
  std::size_t cols;
  SHOAL_HD void operator()(std::size_t i) const { dx[i] = dy[i / cols] / static_cast<T>(cols); }
};

}  // namespace shoal::ops::kernels
