#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "ops/kernels/hd.h"

/// Elementary functions from plain sums and products: the same bits on every CPU and GPU, where
/// those of libm and CUDA differ. Float only; double, which only the reference backend uses, takes
/// libm's.
namespace shoal::ops::kernels {

SHOAL_HD inline std::uint32_t float_bits(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

SHOAL_HD inline float bits_float(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// e^x within 2 ulp; 0 below -87.3, infinity above 88.3, NaN for NaN.
/// Source: S. Moshier, Cephes, expf: x = n ln 2 + r, |r| <= ln 2 / 2, and a polynomial in r.
SHOAL_HD inline float exp_exact(float x) {
  if (x < -87.3F) {
    return 0.0F;
  }
  if (x > 88.3F) {
    return bits_float(0x7F800000U);
  }
  // Adding 1.5 * 2^23 rounds to a whole number, which then lies in the low bits of the sum.
  const float shifted = x * 1.44269504F + 12582912.0F;
  const float n = shifted - 12582912.0F;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float e = ((p * (r * r)) + r) + 1.0F;
  return e * bits_float((float_bits(shifted) << 23U) + 0x3F800000U);
}

/// Natural logarithm within 2 ulp, for normal x > 0; other x (0, negative, NaN, Inf) come back as
/// they are, since a loss that sees them is broken anyway.
/// Source: S. Moshier, Cephes, logf: x = 2^n m, sqrt(1/2) <= m < sqrt(2), a polynomial in m - 1.
SHOAL_HD inline float log_exact(float x) {
  const std::uint32_t bits = float_bits(x);
  if (bits < 0x00800000U || bits >= 0x7F800000U) {
    return x;
  }
  float m = bits_float((bits & 0x007FFFFFU) | 0x3F000000U);  // [1/2, 1)
  float n = static_cast<float>(static_cast<std::int32_t>(bits >> 23U) - 126);
  if (m < 0.707106781F) {
    m = m + m;
    n = n - 1.0F;
  }
  const float r = m - 1.0F;
  const float z = r * r;
  float p = 7.0376836292e-2F;
  p = p * r - 1.1514610310e-1F;
  p = p * r + 1.1676998740e-1F;
  p = p * r - 1.2420140846e-1F;
  p = p * r + 1.4249322787e-1F;
  p = p * r - 1.6668057665e-1F;
  p = p * r + 2.0000714765e-1F;
  p = p * r - 2.4999993993e-1F;
  p = p * r + 3.3333331174e-1F;
  const float tail = ((r * z) * p + n * -2.12194440e-4F) - 0.5F * z;
  return (r + tail) + n * 0.693359375F;
}

inline double exp_exact(double x) { return std::exp(x); }
inline double log_exact(double x) { return std::log(x); }

}  // namespace shoal::ops::kernels
