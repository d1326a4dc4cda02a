#pragma once

#include <cstddef>

#include "ops/kernels/hd.h"

/// Bodies whose results must be equal to the bit on every device: each operation is rounded once,
/// in the order written, and nothing fuses a product with a sum (-ffp-contract=off, -fmad=false).
namespace shoal::ops::kernels {

/// x *= factor.
template <typename T>
struct Scale {
  T* x;
  T factor;
  SHOAL_HD void operator()(std::size_t i) const { x[i] = x[i] * factor; }
};

/// y = y + fl(factor * x).
template <typename T>
struct AddScaled {
  T* y;
  const T* x;
  T factor;
  SHOAL_HD void operator()(std::size_t i) const {
    const T product = factor * x[i];
    y[i] = y[i] + product;
  }
};

}  // namespace shoal::ops::kernels
