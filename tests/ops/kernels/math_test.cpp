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

TEST_CASE("tanh is within 2 ulp, odd, and ends at 1") {
  const PlainMath<float> math;
  double worst = 0;
  for (float x = 1e-6F; x < 12; x += x < 0.01F ? 1.3e-6F : 0.00017F) {
    worst = std::max(worst, ulps(math.tanh(x), std::tanh(static_cast<double>(x))));
    REQUIRE(math.tanh(-x) == -math.tanh(x));
  }
  CHECK(worst < 2);
  for (const float huge : {20.0F, 1e30F, std::numeric_limits<float>::infinity()}) {
    CHECK(math.tanh(huge) == 1.0F);
  }
  CHECK(math.tanh(0.0F) == 0.0F);
  CHECK(std::isnan(math.tanh(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the normal's share and density are as good as said") {
  const PlainMath<float> math;
  float share = 0;
  float density = 0;
  for (float x = -14; x < 14; x += 0.00037F) {
    math.normal(x, share, density);
    double exact = 0;
    double exact_density = 0;
    PlainMath<double>().normal(static_cast<double>(x), exact, exact_density);
    REQUIRE(std::abs(static_cast<double>(share) - exact) < 2.5e-7);
    REQUIRE((x < -4 || static_cast<double>(share) == Approx(exact).epsilon(2e-5)));
    // The exponent of 2, at most 122, is rounded before: 2^-24 of that, and the polynomial.
    REQUIRE(
        (x < -13 || x > 13 || static_cast<double>(density) == Approx(exact_density).epsilon(1e-5)));
    REQUIRE((share >= 0 && share <= 1));
  }
  for (const float huge : {50.0F, 1e30F, std::numeric_limits<float>::infinity()}) {
    math.normal(huge, share, density);
    CHECK(share == 1.0F);
    CHECK(density == 0.0F);
    math.normal(-huge, share, density);
    CHECK(share == 0.0F);
  }
  math.normal(std::numeric_limits<float>::quiet_NaN(), share, density);
  CHECK(std::isnan(share));
}

TEST_CASE("exp, log, tanh and the normal give the same bits on every machine", "[golden]") {
  // The hash was taken on x86-64; ./setup.sh arm64 runs this under qemu-aarch64.
  std::vector<float> values;
  for (int i = -2000; i < 2000; ++i) {
    values.push_back(exp_exact(static_cast<float>(i) * 0.0417F));
    values.push_back(log_exact(static_cast<float>(i + 2001) * 0.0313F));
  }
  CHECK(hash_of(std::as_bytes(std::span(values))).hex().substr(0, 16) == "3b26666c96de8ec6");
  values.clear();
  for (int i = -2000; i < 2000; ++i) {
    values.push_back(PlainMath<float>().tanh(static_cast<float>(i) * 0.00417F));
    values.resize(values.size() + 2);
    PlainMath<float>().normal(static_cast<float>(i) * 0.00313F, values[values.size() - 2],
                              values.back());
  }
  CHECK(hash_of(std::as_bytes(std::span(values))).hex().substr(0, 16) == "b224addac5bffb13");
}

}  // namespace
}  // namespace shoal::ops::kernels
