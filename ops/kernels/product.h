#pragma once

#include <cstddef>

#include "ops/kernels/hd.h"

namespace shoal::ops::kernels {

/// One element of c [m, n] = a b (+ c) as one sum in the order of k; element (i, j) of a matrix
/// lies at i * row + j * col. The reference: devices have products of their own.
template <typename T>
struct Product {
  struct Place {
    std::size_t row;
    std::size_t col;
  };
  const T* a;
  Place at_a;
  const T* b;
  Place at_b;
  T* c;
  std::size_t n;
  std::size_t k;
  bool add;
  SHOAL_HD void operator()(std::size_t index) const {
    const T* x = a + index / n * at_a.row;
    const T* y = b + index % n * at_b.col;
    T sum = T(0);
    for (std::size_t i = 0; i < k; ++i) {
      sum += x[i * at_a.col] * y[i * at_b.row];
    }
    c[index] = add ? c[index] + sum : sum;
  }
};

}  // namespace shoal::ops::kernels
