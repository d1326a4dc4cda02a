#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/dct.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/dct.h"
#include "compress/lanes-inl.h"

#ifndef SHOAL_COMPRESS_DCT_TABLE
#define SHOAL_COMPRESS_DCT_TABLE
namespace shoal::compress {
namespace {

constexpr std::size_t kDctHalf = kDctSize / 2;

/// sin or cos of pi m / 128 for m <= 32, by its Taylor series: the compiler's doubles, and no
/// machine's libm.
constexpr double series(std::size_t m, bool sine) {
  constexpr double kPi = 3.14159265358979323846;
  const double angle = kPi * static_cast<double>(m) / 128;
  double term = sine ? angle : 1;
  double sum = term;
  for (int i = sine ? 2 : 1; i < 24; i += 2) {
    term *= -angle * angle / (i * (i + 1));
    sum += term;
  }
  return sum;
}

/// cos(pi m / 128).
constexpr double cosine(std::size_t m) {
  m %= 256;
  m = m > 128 ? 256 - m : m;
  const bool negative = m > 64;
  m = negative ? 128 - m : m;
  const double value = m <= 32 ? series(m, false) : series(64 - m, true);
  return negative ? -value : value;
}

/// Rows of A up to their middle: row k is symmetric about it for even k, antisymmetric for odd.
struct DctTable {
  std::array<float, kDctSize * kDctHalf> entries{};
  constexpr DctTable() {
    constexpr double kSqrt2 = 1.41421356237309504880;
    for (std::size_t k = 0; k < kDctSize; ++k) {
      for (std::size_t j = 0; j < kDctHalf; ++j) {
        const double norm = k == 0 ? 1 : kSqrt2;
        entries[k * kDctHalf + j] = static_cast<float>(norm / 8 * cosine((2 * j + 1) * k));
      }
    }
  }
};
constexpr DctTable kDctTable;

}  // namespace
}  // namespace shoal::compress
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

using Columns = hn::CappedTag<float, 16>;

/// out[c] = sum over i < count of factors[i * factor_step] * rows[i * row_step + c], c < 64.
HWY_INLINE void dct_sum(const float* factors, std::size_t factor_step, const float* rows,
                        std::ptrdiff_t row_step, std::size_t count, float* out) {
  const Columns columns;
  const std::size_t step = hn::Lanes(columns);
  for (std::size_t c = 0; c < kDctSize; c += 4 * step) {
    auto sum0 = hn::Zero(columns);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    const float* row = rows + c;
    for (std::size_t i = 0; i < count; ++i, row += row_step) {
      const auto factor = hn::Set(columns, factors[i * factor_step]);
      sum0 = hn::Add(sum0, hn::Mul(factor, hn::LoadU(columns, row)));
      sum1 = hn::Add(sum1, hn::Mul(factor, hn::LoadU(columns, row + step)));
      sum2 = hn::Add(sum2, hn::Mul(factor, hn::LoadU(columns, row + 2 * step)));
      sum3 = hn::Add(sum3, hn::Mul(factor, hn::LoadU(columns, row + 3 * step)));
    }
    hn::StoreU(sum0, columns, out + c);
    hn::StoreU(sum1, columns, out + c + step);
    hn::StoreU(sum2, columns, out + c + 2 * step);
    hn::StoreU(sum3, columns, out + c + 3 * step);
  }
}

/// (a, b) <- (a + b, a - b), both rows of 64.
HWY_INLINE void dct_butterfly(float* a, float* b) {
  const Columns columns;
  for (std::size_t c = 0; c < kDctSize; c += hn::Lanes(columns)) {
    const auto left = hn::LoadU(columns, a + c);
    const auto right = hn::LoadU(columns, b + c);
    hn::StoreU(hn::Add(left, right), columns, a + c);
    hn::StoreU(hn::Sub(left, right), columns, b + c);
  }
}

void dct_forward_columns(float* x, float* out) {
  constexpr auto kRow = static_cast<std::ptrdiff_t>(kDctSize);
  const float* table = kDctTable.entries.data();
  // What is left of n rows are the even outputs of 2n: outputs k, k odd times 64 / n.
  for (std::size_t n = kDctSize; n > 1; n /= 2) {
    for (std::size_t j = 0; j < n / 2; ++j) {
      dct_butterfly(x + j * kDctSize, x + (n - 1 - j) * kDctSize);
    }
    const std::size_t stride = kDctSize / n;
    for (std::size_t k = stride; k < kDctSize; k += 2 * stride) {
      dct_sum(table + k * kDctHalf, 1, x + (n - 1) * kDctSize, -kRow, n / 2, out + k * kDctSize);
    }
  }
  dct_sum(table, 1, x, kRow, 1, out);
}

void dct_inverse_columns(const float* x, float* out) {
  const float* table = kDctTable.entries.data();
  dct_sum(table, 1, x, 0, 1, out);
  for (std::size_t n = 2; n <= kDctSize; n *= 2) {
    const std::size_t stride = kDctSize / n;
    for (std::size_t j = 0; j < n / 2; ++j) {
      float* const odd = out + (n - 1 - j) * kDctSize;
      dct_sum(table + stride * kDctHalf + j, 2 * stride * kDctHalf, x + stride * kDctSize,
              static_cast<std::ptrdiff_t>(2 * stride * kDctSize), n / 2, odd);
      dct_butterfly(out + j * kDctSize, odd);
    }
  }
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::compress {
namespace {

HWY_EXPORT(dct_forward_columns);
HWY_EXPORT(dct_inverse_columns);

}  // namespace

float dct_entry(std::size_t k, std::size_t j) {
  const bool mirrored = j >= kDctHalf;
  const float entry = kDctTable.entries[k * kDctHalf + (mirrored ? kDctSize - 1 - j : j)];
  return mirrored && k % 2 != 0 ? -entry : entry;
}

void dct_forward(DctMatrix& x, DctMatrix& out) {
  HWY_DYNAMIC_DISPATCH(dct_forward_columns)(x.data(), out.data());
}

void dct_inverse(const DctMatrix& x, DctMatrix& out) {
  HWY_DYNAMIC_DISPATCH(dct_inverse_columns)(x.data(), out.data());
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
