#include <algorithm>
#include <cmath>

#include "compress/error_feedback.h"
#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> demo(double density, const std::string& values, double decay = 0.999) {
  Options options;
  options.set("density", density);
  options.set("values", values);
  options.set("decay", decay);
  return std::move(make_codec("demo", options)).value();
}

double square_norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) {
    sum += static_cast<double>(v) * v;
  }
  return sum;
}

double square_error(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  }
  return sum;
}

}  // namespace

TEST_CASE("demo: with all coefficients nothing is lost but rounding", "[codec]") {
  const auto codec = demo(1, "fp32");
  for (const std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                              std::size_t{1000}, std::size_t{4096}}) {
    CAPTURE(n);
    const auto x = normal_input(n, test_seed(181));
    const auto y = decoded(*codec, encoded(*codec, x), n);
    // Two transforms of 39 roundings of 2^-24 at most.
    CHECK(std::sqrt(square_error(x, y) / square_norm(x)) < 2e-6);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK((std::abs(x[i]) < 1e-3F || std::signbit(x[i]) == std::signbit(y[i])));
    }
  }
}

TEST_CASE("demo: keeps the best share of the coefficients", "[codec]") {
  const auto codec = demo(1.0 / 128, "int8");
  for (const Input& input : inputs(kGranule, test_seed(182))) {
    const double norm = square_norm(input.x);
    if (norm < 1e-60 || norm > 1e60) {
      continue;  // there no contraction is promised
    }
    CAPTURE(input.name);
    const auto y = decoded(*codec, encoded(*codec, input.x), kGranule);
    // As topk's of the coefficients: 0.7 of the density; the transforms round 1e-6 of it away.
    CHECK(square_error(input.x, y) <= (1 - 0.7 / 128 + 1e-5) * norm);
  }
}

TEST_CASE("demo: waves cost a coefficient a run", "[codec]") {
  std::vector<float> x(kGranule);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double angle = 3.14159265358979323846 * static_cast<double>((2 * (i % 64) + 1) * 3) / 128;
    x[i] = static_cast<float>((1 + static_cast<double>(i / 64)) * std::cos(angle));
  }
  const auto codec = demo(1.0 / 32, "fp32");  // at least 112 coefficients, 64 are needed
  const auto y = decoded(*codec, encoded(*codec, x), kGranule);
  CHECK(std::sqrt(square_error(x, y) / square_norm(x)) < 2e-6);
}

TEST_CASE("demo: what is not sent fades in the carry", "[codec][carry]") {
  ParamMap map;
  Param param;
  param.name = "p";
  param.shape = {static_cast<std::int64_t>(kGranule)};
  REQUIRE(map.add(std::move(param)).ok());
  map.seal();
  const auto codec = demo(0.01, "int8", 0.5);
  Carry carry(map);
  const auto s = normal_input(kGranule, test_seed(183));
  ByteWriter out;
  REQUIRE(encode_granules(*codec, map, {0, 1}, s, {}, out).ok());
  REQUIRE(carry.settle_included(*codec, {}, {0, 1}, s, 1, out.span()).ok());
  std::vector<float> y(kGranule);
  REQUIRE(decode_granules(*codec, map, {0, 1}, {}, out.span(), 1, y).ok());
  for (std::size_t i = 0; i < kGranule; ++i) {
    CHECK(carry.values()[i] == 0.5F * (s[i] - y[i]));
  }
  carry.settle_left_out({0, 1}, s, 1);
  CHECK(equal_bits(carry.values(), s));
}

TEST_CASE("demo: the largest floats stay finite there and back", "[codec]") {
  for (const double density : {1.0 / 128, 1.0}) {
    for (const float sign : {1.0F, -1.0F}) {
      const std::vector<float> x(kGranule, sign * kFloatMax);
      const auto codec = demo(density, "fp32");
      const auto y = decoded(*codec, encoded(*codec, x), kGranule);
      CHECK(first_not_finite(y) == y.size());
      CHECK(y[0] * sign > 0);
    }
  }
}
