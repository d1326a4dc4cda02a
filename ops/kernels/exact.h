#pragma once

#include <cstddef>

#include "ops/kernels/hd.h"

/// Bodies whose results must be equal to the bit on every device: each operation is rounded once,
/// in the order written, and nothing fuses a product with a sum (-ffp-contract=off, -fmad=false).
namespace shoal::ops::kernels {

/// Arithmetic on plain numbers. The update rules take it as a parameter, so that Highway lanes run
/// the same text (cpu/exact.cpp).
template <typename T>
struct Plain {
  using Value = T;
  SHOAL_HD T mul(T a, T b) const { return a * b; }
  SHOAL_HD T add(T a, T b) const { return a + b; }
  SHOAL_HD T sub(T a, T b) const { return a - b; }
};

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

#define SHOAL_RULE SHOAL_HD
#include "ops/kernels/update_rules.inc"
#undef SHOAL_RULE

/// One SGD step: g' = g + fl(decay p); p <- p - fl(lr * direction). `m` null means no momentum.
template <typename T>
struct Sgd {
  T* p;
  const T* g;
  T* m;
  T lr;
  T mu;
  T decay;
  bool nesterov;
  SHOAL_HD void operator()(std::size_t i) const {
    const Plain<T> arith;
    T grad = g[i];
    if (decay != T(0)) {
      grad = arith.add(grad, arith.mul(decay, p[i]));
    }
    T step = grad;
    if (m != nullptr) {
      T mi = m[i];
      step = sgd_direction(arith, grad, mi, mu, nesterov);
      m[i] = mi;
    }
    p[i] = arith.sub(p[i], arith.mul(lr, step));
  }
};

}  // namespace shoal::ops::kernels
