#include "ops/kernels/math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/base/hash.h"
#include "tests/support/catch.h"

namespace shoal::ops::kernels {
namespace {

/// Distance from the exact value in units of the last place of the float nearest to it.
double ulps(float got, double exact) {
  const float near = std::abs(static_cast<float>(exact));
  const double ulp =
      static_cast<double>(std::nextafter(near, std::numeric_limits<float>::infinity())) -
      static_cast<double>(near);
  return std::abs(static_cast<double>(got) - exact) / ulp;
}

TEST_CASE("exp is within 2 ulp over its range") {
  double worst = 0;
  for (float x = -87.0F; x < 88.2F; x += 0.00371F) {
    worst = std::max(worst, ulps(exp_exact(x), std::exp(static_cast<double>(x))));
  }
  CHECK(worst < 2);
  CHECK(exp_exact(0.0F) == 1.0F);
  CHECK(exp_exact(-1000.0F) == 0.0F);
  CHECK(std::isinf(exp_exact(1000.0F)));
  CHECK(exp_exact(-std::numeric_limits<float>::infinity()) == 0.0F);
  CHECK(std::isnan(exp_exact(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("log is within 2 ulp, and tiny near 1") {
  double worst = 0;
  for (float x = 1e-30F; x < 1e30F; x *= 1.0037F) {
    worst = std::max(worst, ulps(log_exact(x), std::log(static_cast<double>(x))));
  }
  for (float x = 0.5F; x < 2.0F; x += 0.0001F) {
    worst = std::max(worst, ulps(log_exact(x), std::log(static_cast<double>(x))));
  }
  CHECK(worst < 2);
  CHECK(log_exact(1.0F) == 0.0F);
  CHECK(std::isnan(log_exact(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isinf(log_exact(std::numeric_limits<float>::infinity())));
}

TEST_CASE("exp and log give the same bits on every machine", "[golden]") {
  // The hash was taken on x86-64; ./setup.sh arm64 runs this under qemu-aarch64.
  std::vector<float> values;
  for (int i = -2000; i < 2000; ++i) {
    values.push_back(exp_exact(static_cast<float>(i) * 0.0417F));
    values.push_back(log_exact(static_cast<float>(i + 2001) * 0.0313F));
  }
  CHECK(hash_of(std::as_bytes(std::span(values))).hex().substr(0, 16) == "3b26666c96de8ec6");
}

}  // namespace
}  // namespace shoal::ops::kernels
