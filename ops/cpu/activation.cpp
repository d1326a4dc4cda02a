#include <algorithm>
#include <cstddef>

#include "ops/cpu/elementwise.h"
#include "ops/kernels/activation_kind.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/activation.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/lanes-inl.h"
#include "ops/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

template <Activation kActivation, typename D, typename V = hn::Vec<D>>
HWY_ATTR HWY_INLINE V activate_lanes(D d, V x) {
  return activate_rule<kActivation>(LaneMath<D>{d}, x);
}

template <Activation kActivation>
HWY_ATTR void activate_loop(const float* x, float* y, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(activate_lanes<kActivation>(d, hn::LoadU(d, x + i)), d, y + i);
  });
}

template <Activation kActivation>
HWY_ATTR void add_loop(const float* a, const float* b, float* y, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(activate_lanes<kActivation>(d, sum), d, y + i);
  });
}

template <Activation kActivation>
HWY_ATTR void bias_loop(float* x, const float* bias, float* y, std::size_t rows, std::size_t cols) {
  for (std::size_t first = 0; first < rows * cols; first += cols) {
    for_each_lane(0, cols, [=](auto d, std::size_t c) HWY_ATTR {
      auto sum = hn::LoadU(d, x + first + c);
      if (bias != nullptr) {
        sum = hn::Add(sum, hn::LoadU(d, bias + c));
      }
      const auto result = activate_lanes<kActivation>(d, sum);
      if (x != y) {
        const auto slope = slope_rule<kActivation>(LaneMath<decltype(d)>{d}, sum, result);
        hn::StoreU(slope, d, x + first + c);
      }
      hn::StoreU(result, d, y + first + c);
    });
  }
}

template <Activation kActivation>
HWY_ATTR void slope_loop(const float* kept, float* dy, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto g = activate_backward_rule<kActivation>(
        LaneMath<decltype(d)>{d}, hn::LoadU(d, kept + i), hn::LoadU(d, dy + i));
    hn::StoreU(g, d, dy + i);
  });
}

/// A block of columns at a time, whose sums stay in the innermost cache while memory is read row by
/// row; the rows of a column are added in order whatever the block.
template <Activation kActivation>
HWY_ATTR void slope_sum_loop(const float* kept, float* dy, float* dbias, std::size_t rows,
                             std::size_t cols, bool add) {
  constexpr std::size_t kBlock = 512;
  HWY_ALIGN float sums[kBlock];
  for (std::size_t first = 0; first < cols; first += kBlock) {
    const std::size_t width = std::min(kBlock, cols - first);
    std::fill_n(sums, width, 0.0F);
    float* sum = sums;
    for (std::size_t row = first; row < rows * cols; row += cols) {
      for_each_lane(0, width, [=](auto d, std::size_t c) HWY_ATTR {
        auto g = hn::LoadU(d, dy + row + c);
        if constexpr (kActivation != Activation::kNone) {
          g = activate_backward_rule<kActivation>(LaneMath<decltype(d)>{d},
                                                  hn::LoadU(d, kept + row + c), g);
          hn::StoreU(g, d, dy + row + c);
        }
        hn::StoreU(hn::Add(hn::LoadU(d, sum + c), g), d, sum + c);
      });
    }
    for (std::size_t c = 0; c < width; ++c) {
      dbias[first + c] = add ? dbias[first + c] + sums[c] : sums[c];
    }
  }
}

HWY_ATTR void activate_all(const float* x, float* y, std::size_t count, Activation activation) {
  dispatch(activation,
           [=](auto tag) HWY_ATTR { activate_loop<decltype(tag)::kValue>(x, y, count); });
}

HWY_ATTR void add_activation_all(const float* a, const float* b, float* y, std::size_t count,
                                 Activation activation) {
  dispatch(activation, [=](auto tag) HWY_ATTR { add_loop<decltype(tag)::kValue>(a, b, y, count); });
}

HWY_ATTR void bias_activation_all(float* x, const float* bias, float* y, std::size_t rows,
                                  std::size_t cols, Activation activation) {
  if (bias == nullptr && x == y && activation == Activation::kNone) {
    return;
  }
  dispatch(activation,
           [=](auto tag) HWY_ATTR { bias_loop<decltype(tag)::kValue>(x, bias, y, rows, cols); });
}

HWY_ATTR void bias_activation_backward_all(const float* kept, float* dy, float* dbias,
                                           std::size_t rows, std::size_t cols,
                                           Activation activation, bool add) {
  dispatch(activation, [=](auto tag) HWY_ATTR {
    if (dbias != nullptr) {
      slope_sum_loop<decltype(tag)::kValue>(kept, dy, dbias, rows, cols, add);
    } else if constexpr (decltype(tag)::kValue != Activation::kNone) {
      slope_loop<decltype(tag)::kValue>(kept, dy, rows * cols);
    }
  });
}

HWY_ATTR const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(activate_all);
HWY_EXPORT(add_activation_all);
HWY_EXPORT(bias_activation_all);
HWY_EXPORT(bias_activation_backward_all);
HWY_EXPORT(target_name);

const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

void activate(const float* x, float* y, std::size_t count, Activation activation) {
  HWY_DYNAMIC_DISPATCH(activate_all)(x, y, count, activation);
}

void add_activation(const float* a, const float* b, float* y, std::size_t count,
                    Activation activation) {
  HWY_DYNAMIC_DISPATCH(add_activation_all)(a, b, y, count, activation);
}

void bias_activation(float* x, const float* bias, float* y, std::size_t rows, std::size_t cols,
                     Activation activation) {
  HWY_DYNAMIC_DISPATCH(bias_activation_all)(x, bias, y, rows, cols, activation);
}

void bias_activation_backward(const float* kept, float* dy, float* dbias, std::size_t rows,
                              std::size_t cols, Activation activation, bool add) {
  HWY_DYNAMIC_DISPATCH(bias_activation_backward_all)
  (kept, dy, dbias, rows, cols, activation, add);
}

}  // namespace shoal::ops::cpu
#endif
