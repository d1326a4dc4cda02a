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

/// Arithmetic on plain numbers, which the rules below take as a parameter, so that Highway lanes
/// run the same text (cpu/math-inl.h).
template <typename T>
struct PlainMath;

template <>
struct PlainMath<float> {
  SHOAL_HD float num(double x) const { return static_cast<float>(x); }
  SHOAL_HD float infinity() const { return bits_float(0x7F800000U); }
  SHOAL_HD float add(float a, float b) const { return a + b; }
  SHOAL_HD float sub(float a, float b) const { return a - b; }
  SHOAL_HD float mul(float a, float b) const { return a * b; }
  SHOAL_HD float div(float a, float b) const { return a / b; }
  SHOAL_HD float if_less(float a, float b, float yes, float no) const { return a < b ? yes : no; }
  SHOAL_HD float magnitude(float a) const { return bits_float(float_bits(a) & 0x7FFFFFFFU); }
  /// |a| with the sign of b.
  SHOAL_HD float with_sign(float a, float b) const {
    return bits_float((float_bits(a) & 0x7FFFFFFFU) | (float_bits(b) & 0x80000000U));
  }
  /// a 2^n, where n lies in the low bits of `shifted`.
  SHOAL_HD float scale2(float a, float shifted) const {
    return a * bits_float((float_bits(shifted) << 23U) + 0x3F800000U);
  }
  SHOAL_HD float exp(float x) const;
  SHOAL_HD float tanh(float x) const;
  SHOAL_HD void normal(float x, float& share, float& density) const;
};

template <>
struct PlainMath<double> {
  double num(double x) const { return x; }
  double add(double a, double b) const { return a + b; }
  double sub(double a, double b) const { return a - b; }
  double mul(double a, double b) const { return a * b; }
  double div(double a, double b) const { return a / b; }
  double if_less(double a, double b, double yes, double no) const { return a < b ? yes : no; }
  double exp(double x) const { return std::exp(x); }
  double tanh(double x) const { return std::tanh(x); }
  void normal(double x, double& share, double& density) const {
    share = 0.5 * std::erfc(x * -0.70710678118654752440);
    density = std::exp(-0.5 * x * x) * 0.39894228040143267794;
  }
};

#define SHOAL_RULE SHOAL_HD
#include "ops/kernels/math_rules.inc"
#undef SHOAL_RULE

SHOAL_HD inline float exp_exact(float x) { return exp_rule(PlainMath<float>(), x); }
SHOAL_HD inline float PlainMath<float>::exp(float x) const { return exp_rule(*this, x); }
SHOAL_HD inline float PlainMath<float>::tanh(float x) const { return tanh_rule(*this, x); }
SHOAL_HD inline void PlainMath<float>::normal(float x, float& share, float& density) const {
  normal_rule(*this, x, share, density);
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
