#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/codecs/product.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <array>

#include "tests/bench/codecs/product.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSums = 16;
using Floats = hn::CappedTag<float, kSums>;

void right(const float* m, std::size_t rows, std::size_t cols, const float* basis, float* factor) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  std::array<std::array<float, kSums>, 8> sums{};
  for (std::size_t i = 0; i < rows; i += 2) {
    const float* const m0 = m + i * cols;
    const float* const m1 = m0 + cols;
    for (std::size_t l = 0; l < kSums; l += step) {
      auto s00 = hn::Zero(floats), s01 = s00, s02 = s00, s03 = s00;
      auto s10 = s00, s11 = s00, s12 = s00, s13 = s00;
      for (std::size_t j = l; j < cols; j += kSums) {
        const auto x0 = hn::LoadU(floats, m0 + j);
        const auto x1 = hn::LoadU(floats, m1 + j);
        const auto b0 = hn::LoadU(floats, basis + j);
        const auto b1 = hn::LoadU(floats, basis + cols + j);
        const auto b2 = hn::LoadU(floats, basis + 2 * cols + j);
        const auto b3 = hn::LoadU(floats, basis + 3 * cols + j);
        s00 = hn::Add(s00, hn::Mul(x0, b0));
        s01 = hn::Add(s01, hn::Mul(x0, b1));
        s02 = hn::Add(s02, hn::Mul(x0, b2));
        s03 = hn::Add(s03, hn::Mul(x0, b3));
        s10 = hn::Add(s10, hn::Mul(x1, b0));
        s11 = hn::Add(s11, hn::Mul(x1, b1));
        s12 = hn::Add(s12, hn::Mul(x1, b2));
        s13 = hn::Add(s13, hn::Mul(x1, b3));
      }
      hn::StoreU(s00, floats, sums[0].data() + l);
      hn::StoreU(s01, floats, sums[1].data() + l);
      hn::StoreU(s02, floats, sums[2].data() + l);
      hn::StoreU(s03, floats, sums[3].data() + l);
      hn::StoreU(s10, floats, sums[4].data() + l);
      hn::StoreU(s11, floats, sums[5].data() + l);
      hn::StoreU(s12, floats, sums[6].data() + l);
      hn::StoreU(s13, floats, sums[7].data() + l);
    }
    for (std::size_t which = 0; which < sums.size(); ++which) {
      auto& sum = sums[which];
      for (std::size_t half = kSums / 2; half > 0; half /= 2) {
        for (std::size_t l = 0; l < half; ++l) {
          sum[l] += sum[l + half];
        }
      }
      factor[(which % kProductRank) * rows + i + which / kProductRank] = sum[0];
    }
  }
}

void left(const float* m, std::size_t rows, std::size_t cols, const float* basis, float* factor) {
  const Floats floats;
  const std::size_t step = hn::Lanes(floats);
  constexpr std::size_t kBlock = 8;  // rows that a factor takes in before it is stored
  for (std::size_t i = 0; i < rows; i += kBlock) {
    for (std::size_t j = 0; j < cols; j += step) {
      auto s0 = hn::LoadU(floats, factor + j);
      auto s1 = hn::LoadU(floats, factor + cols + j);
      auto s2 = hn::LoadU(floats, factor + 2 * cols + j);
      auto s3 = hn::LoadU(floats, factor + 3 * cols + j);
      for (std::size_t r = i; r < i + kBlock; ++r) {
        const auto x = hn::LoadU(floats, m + r * cols + j);
        s0 = hn::Add(s0, hn::Mul(x, hn::Set(floats, basis[r])));
        s1 = hn::Add(s1, hn::Mul(x, hn::Set(floats, basis[rows + r])));
        s2 = hn::Add(s2, hn::Mul(x, hn::Set(floats, basis[2 * rows + r])));
        s3 = hn::Add(s3, hn::Mul(x, hn::Set(floats, basis[3 * rows + r])));
      }
      hn::StoreU(s0, floats, factor + j);
      hn::StoreU(s1, floats, factor + cols + j);
      hn::StoreU(s2, floats, factor + 2 * cols + j);
      hn::StoreU(s3, floats, factor + 3 * cols + j);
    }
  }
}

}  // namespace shoal::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::bench {

HWY_EXPORT(right);
HWY_EXPORT(left);

void product_right(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                   float* factor) {
  HWY_DYNAMIC_DISPATCH(right)(m, rows, cols, basis, factor);
}

void product_left(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                  float* factor) {
  HWY_DYNAMIC_DISPATCH(left)(m, rows, cols, basis, factor);
}

}  // namespace shoal::bench
#endif
