#pragma once

#include <cstddef>

namespace shoal::ops {

/// A row-major matrix in memory, seen transposed or not.
template <typename T>
struct PlainMatrix {
  const T* data;
  std::size_t stride;
  bool transposed = false;
  [[nodiscard]] T at(std::size_t row, std::size_t col) const {
    return transposed ? data[col * stride + row] : data[row * stride + col];
  }
};

/// c [m, n] = a [m, k] b [k, n] (+ c), each sum from first to last.
template <typename T>
void plain_product(const PlainMatrix<T>& a, const PlainMatrix<T>& b, T* c, std::size_t c_stride,
                   std::size_t m, std::size_t n, std::size_t k, bool add) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      T sum = T(0);
      for (std::size_t x = 0; x < k; ++x) {
        sum += a.at(i, x) * b.at(x, j);
      }
      T& out = c[i * c_stride + j];
      out = add ? out + sum : sum;
    }
  }
}

}  // namespace shoal::ops
