#include <cstddef>

#include "ops/cpu/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/activation.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/highway.h"
#include "ops/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {

template <typename D, typename V = hn::Vec<D>>
HWY_ATTR HWY_INLINE V relu_lanes(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // keeps NaN, as kernels::relu
}

HWY_ATTR void relu_all(const float* x, float* y, std::size_t count) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(relu_lanes(d, hn::LoadU(d, x + i)), d, y + i);
  });
}

HWY_ATTR void add_activation_all(const float* a, const float* b, float* y, std::size_t count,
                                 bool with_relu) {
  for_each_lane(0, count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(with_relu ? relu_lanes(d, sum) : sum, d, y + i);
  });
}

HWY_ATTR void bias_activation_all(float* y, const float* bias, std::size_t rows, std::size_t cols,
                                  bool with_relu) {
  if (bias == nullptr) {
    if (with_relu) {
      relu_all(y, y, rows * cols);
    }
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    float* out = y + row * cols;
    if (with_relu) {
      for_each_lane(0, cols, [=](auto d, std::size_t c) HWY_ATTR {
        hn::StoreU(relu_lanes(d, hn::Add(hn::LoadU(d, out + c), hn::LoadU(d, bias + c))), d,
                   out + c);
      });
    } else {
      for_each_lane(0, cols, [=](auto d, std::size_t c) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, out + c), hn::LoadU(d, bias + c)), d, out + c);
      });
    }
  }
}

/// One vector of columns from `first`, all rows in order: a column's sum is the same in any lane.
template <typename D>
HWY_ATTR HWY_INLINE void column_backward(D d, std::size_t first, const float* y, float* dy,
                                         float* dbias, std::size_t rows, std::size_t cols,
                                         bool with_relu, bool add) {
  auto sum = hn::Zero(d);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t i = row * cols + first;
    auto g = hn::LoadU(d, dy + i);
    if (with_relu) {
      g = hn::IfThenZeroElse(hn::Le(hn::LoadU(d, y + i), hn::Zero(d)), g);
      hn::StoreU(g, d, dy + i);
    }
    sum = hn::Add(sum, g);
  }
  if (dbias != nullptr) {
    hn::StoreU(add ? hn::Add(hn::LoadU(d, dbias + first), sum) : sum, d, dbias + first);
  }
}

HWY_ATTR void bias_activation_backward_all(const float* y, float* dy, float* dbias,
                                           std::size_t rows, std::size_t cols, bool with_relu,
                                           bool add) {
  for_each_lane(0, cols, [=](auto d, std::size_t c) HWY_ATTR {
    column_backward(d, c, y, dy, dbias, rows, cols, with_relu, add);
  });
}

HWY_ATTR const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {

HWY_EXPORT(relu_all);
HWY_EXPORT(add_activation_all);
HWY_EXPORT(bias_activation_all);
HWY_EXPORT(bias_activation_backward_all);
HWY_EXPORT(target_name);

const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

void add_activation(const float* a, const float* b, float* y, std::size_t count, bool with_relu) {
  HWY_DYNAMIC_DISPATCH(add_activation_all)(a, b, y, count, with_relu);
}

void relu(const float* x, float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(relu_all)(x, y, count);
}

void bias_activation(float* y, const float* bias, std::size_t rows, std::size_t cols,
                     bool with_relu) {
  HWY_DYNAMIC_DISPATCH(bias_activation_all)(y, bias, rows, cols, with_relu);
}

void bias_activation_backward(const float* y, float* dy, float* dbias, std::size_t rows,
                              std::size_t cols, bool with_relu, bool add) {
  HWY_DYNAMIC_DISPATCH(bias_activation_backward_all)(y, dy, dbias, rows, cols, with_relu, add);
}

}  // namespace shoal::ops::cpu
#endif
