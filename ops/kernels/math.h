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
  /// x = m 2^n with 1/2 <= m < 1, for normal x > 0.
  SHOAL_HD void split2(float x, float& m, float& n) const {
    m = bits_float((float_bits(x) & 0x007FFFFFU) | 0x3F000000U);
    n = static_cast<float>(static_cast<std::int32_t>(float_bits(x) >> 23U) - 126);
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

SHOAL_HD inline float log_exact(float x) { return log_rule(PlainMath<float>(), x); }

inline double exp_exact(double x) { return std::exp(x); }
inline double log_exact(double x) { return std::log(x); }

}  // namespace shoal::ops::kernels
