#pragma once

#include <cmath>
#include <cstddef>

#include "ops/kernels/hd.h"
#include "ops/kernels/update_rule.h"

/// One step of an optimizer and sums of squares, exact: each operation is rounded once, in the
/// order written (-ffp-contract=off, -fmad=false, correctly rounded division and roots).
namespace shoal::ops::kernels {

/// Arithmetic on plain numbers. The rules take it as a parameter, so that Highway lanes run the
/// same text (cpu/update.cpp).
template <typename T>
struct Plain {
  SHOAL_HD T num(T x) const { return x; }
  SHOAL_HD T mul(T a, T b) const { return a * b; }
  SHOAL_HD T add(T a, T b) const { return a + b; }
  SHOAL_HD T sub(T a, T b) const { return a - b; }
  SHOAL_HD T div(T a, T b) const { return a / b; }
  SHOAL_HD T root(T a) const { return std::sqrt(a); }
  SHOAL_HD T if_less(T a, T b, T yes, T no) const { return a < b ? yes : no; }
};

#define SHOAL_RULE SHOAL_HD
#include "ops/kernels/update_rules.inc"
#undef SHOAL_RULE

/// One element of one step.
template <UpdateRule kRule, typename T>
struct Update {
  static constexpr bool kFirst = has_first(kRule);
  static constexpr bool kSecond = has_second(kRule);
  UpdateArrays<T> arrays;
  UpdateNumbers<T> numbers;
  SHOAL_HD void operator()(std::size_t i) const {
    T m = kFirst ? arrays.first[i] : T(0);
    T v = kSecond ? arrays.second[i] : T(0);
    arrays.result[i] =
        update_rule<kRule>(Plain<T>(), numbers, arrays.parameters[i], arrays.gradients[i], m, v);
    if (kFirst) {
      arrays.first[i] = m;
    }
    if (kSecond) {
      arrays.second[i] = v;
    }
  }
};

/// Calls `use` with the step's body. Host code: the choice is made once a step.
template <typename T, typename Use>
auto with_update(UpdateRule rule, const UpdateArrays<T>& arrays, const UpdateNumbers<T>& numbers,
                 const Use& use) {
  switch (rule) {
    case UpdateRule::kMomentum:
      return use(Update<UpdateRule::kMomentum, T>{arrays, numbers});
    case UpdateRule::kNesterov:
      return use(Update<UpdateRule::kNesterov, T>{arrays, numbers});
    case UpdateRule::kLars:
      return use(Update<UpdateRule::kLars, T>{arrays, numbers});
    case UpdateRule::kAdamw:
      return use(Update<UpdateRule::kAdamw, T>{arrays, numbers});
    case UpdateRule::kAdagrad:
      return use(Update<UpdateRule::kAdagrad, T>{arrays, numbers});
    case UpdateRule::kAdagradMomentum:
      return use(Update<UpdateRule::kAdagradMomentum, T>{arrays, numbers});
    case UpdateRule::kYogi:
      return use(Update<UpdateRule::kYogi, T>{arrays, numbers});
    case UpdateRule::kLamb:
      return use(Update<UpdateRule::kLamb, T>{arrays, numbers});
    case UpdateRule::kSgd:
      break;
  }
  return use(Update<UpdateRule::kSgd, T>{arrays, numbers});
}

/// Elements whose squares one leaf sums.
inline constexpr std::size_t kSumLeaf = 256;

inline std::size_t leaf_count(std::size_t elements) { return (elements + kSumLeaf - 1) / kSumLeaf; }

/// Sum of squares of x[256 i, 256 i + 256), cut at `count`, in double: eight running sums take
/// turns, and are added ((0+4)+(2+6)) + ((1+5)+(3+7)). Eight, so that vectors of any width give
/// the same order.
template <typename T>
struct SumSquares {
  const T* x;
  double* leaves;
  std::size_t count;
  SHOAL_HD void operator()(std::size_t i) const {
    constexpr std::size_t kRunning = 8;
    double sums[kRunning] = {0, 0, 0, 0, 0, 0, 0, 0};
    const std::size_t begin = i * kSumLeaf;
    const std::size_t end = begin + kSumLeaf < count ? begin + kSumLeaf : count;
    std::size_t k = begin;
    for (; k + kRunning <= end; k += kRunning) {
      for (std::size_t j = 0; j < kRunning; ++j) {
        const auto value = static_cast<double>(x[k + j]);
        const double square = value * value;
        sums[j] = sums[j] + square;
      }
    }
    for (std::size_t j = 0; k + j < end; ++j) {
      const auto value = static_cast<double>(x[k + j]);
      const double square = value * value;
      sums[j] = sums[j] + square;
    }
    leaves[i] =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
};

}  // namespace shoal::ops::kernels
