#include "compress/dct.h"

#include <hwy/targets.h>

#include <cmath>

#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

DctMatrix random_matrix(std::uint64_t seed) {
  const auto x = normal_input(kDctSize * kDctSize, seed);
  DctMatrix m{};
  std::copy(x.begin(), x.end(), m.begin());
  return m;
}

DctMatrix forward(DctMatrix x) {
  DctMatrix out{};
  dct_forward(x, out);
  return out;
}

double square_norm(const DctMatrix& m) {
  double sum = 0;
  for (const float v : m) {
    sum += static_cast<double>(v) * v;
  }
  return sum;
}

}  // namespace

TEST_CASE("dct: the matrix is the DCT-II and orthonormal", "[dct]") {
  constexpr double kPi = 3.14159265358979323846;
  for (std::size_t k = 0; k < kDctSize; ++k) {
    for (std::size_t j = 0; j < kDctSize; ++j) {
      const double norm = k == 0 ? 0.125 : std::sqrt(2.0) / 8;
      const double angle = kPi * static_cast<double>((2 * j + 1) * k) / 128;
      // Half an ulp of a float below 1/4.
      CHECK(std::abs(dct_entry(k, j) - norm * std::cos(angle)) <= std::ldexp(1.0, -27));
    }
    for (std::size_t l = 0; l < kDctSize; ++l) {
      double product = 0;
      for (std::size_t j = 0; j < kDctSize; ++j) {
        product += static_cast<double>(dct_entry(k, j)) * dct_entry(l, j);
      }
      CHECK(std::abs(product - (k == l ? 1 : 0)) < 1e-6);
    }
  }
}

TEST_CASE("dct: the fast transform is the matrix's product, its inverse the way back", "[dct]") {
  const DctMatrix x = random_matrix(test_seed(171));
  const DctMatrix y = forward(x);
  double error = 0;
  for (std::size_t k = 0; k < kDctSize; ++k) {
    for (std::size_t c = 0; c < kDctSize; ++c) {
      double sum = 0;
      for (std::size_t j = 0; j < kDctSize; ++j) {
        sum += static_cast<double>(dct_entry(k, j)) * x[j * kDctSize + c];
      }
      error += (sum - y[k * kDctSize + c]) * (sum - y[k * kDctSize + c]);
    }
  }
  // An output is a sum of at most 32 products of sums of depth 6: at most 39 roundings of 2^-24,
  // 2.3e-6 of the norm if all went one way.
  const double norm = square_norm(x);
  CHECK(std::sqrt(error / norm) < 1e-6);
  CHECK(std::abs(square_norm(y) / norm - 1) < 2e-6);  // Parseval
  DctMatrix back{};
  dct_inverse(y, back);
  double lost = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    lost += (static_cast<double>(back[i]) - x[i]) * (static_cast<double>(back[i]) - x[i]);
  }
  CHECK(std::sqrt(lost / norm) < 1e-6);
}

TEST_CASE("dct: columns are independent, constants go to the first coefficient", "[dct]") {
  DctMatrix x{};
  for (std::size_t j = 0; j < kDctSize; ++j) {
    x[j * kDctSize + 5] = 3;
  }
  const DctMatrix y = forward(x);
  for (std::size_t k = 0; k < kDctSize; ++k) {
    for (std::size_t c = 0; c < kDctSize; ++c) {
      CHECK(y[k * kDctSize + c] == (k == 0 && c == 5 ? 24.0F : 0.0F));
    }
  }
}

TEST_CASE("dct: every vector target gives the same bits", "[dct][simd]") {
  const DctMatrix x = random_matrix(test_seed(172));
  const DctMatrix y = forward(x);
  DctMatrix back{};
  dct_inverse(y, back);
  std::size_t targets = 0;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    DctMatrix here{};
    dct_inverse(y, here);
    const bool same = equal_bits(forward(x), y) && equal_bits(here, back);
    hwy::SetSupportedTargetsForTest(0);
    CHECK(same);
    ++targets;
  }
  CHECK(targets >= 1);
}
