#pragma once

#include <cmath>

#include "ops/base/rng.h"
#include "ops/kernels/math.h"

namespace shoal::node {

/// Standard normal from sums, products, roots and log_exact, which round alike on every machine
/// (libm's logarithm and cosine do not), so that labels may hang on it.
/// Source: G. Marsaglia and T. A. Bray, SIAM Review 6 (1964), 260-264, the polar method.
inline double exact_normal(Rng& rng) {
  for (;;) {
    const double u = 2 * rng.uniform() - 1;
    const double v = 2 * rng.uniform() - 1;
    const double s = u * u + v * v;
    if (s < 1 && s > 1e-12) {
      const auto log = static_cast<double>(ops::kernels::log_exact(static_cast<float>(s)));
      return u * std::sqrt(-2 * log / s);
    }
  }
}

}  // namespace shoal::node
