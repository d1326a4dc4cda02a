#include <algorithm>
#include <cmath>
#include <cstring>

#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> qsgd(std::int64_t levels, std::int64_t bucket) {
  Options options;
  options.set("levels", levels);
  options.set("bucket", bucket);
  return std::move(make_codec("qsgd", options)).value();
}

double square_norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) {
    sum += static_cast<double>(v) * v;
  }
  return sum;
}

float step_of(ByteSpan bytes) {
  float step = 0;
  std::memcpy(&step, bytes.data() + 3, sizeof(step));
  return step;
}

}  // namespace

TEST_CASE("qsgd: values are next to x among multiples of the norm / levels", "[codec]") {
  for (const std::int64_t levels : {1, 7, 127}) {
    for (const Input& input : inputs(512, test_seed(63))) {
      CAPTURE(levels, input.name);
      const auto bytes = encoded(*qsgd(levels, 512), input.x);
      const auto y = decoded(*qsgd(levels, 512), bytes, input.x.size());
      const double step = step_of(bytes);
      const double norm = std::sqrt(square_norm(input.x));
      // Rounded up by no more than 2^-16 and what that makes up for, cut to the largest float; a
      // denormal step is a whole number of ulps.
      const double ulps = static_cast<double>(levels) * 0x1p-149;
      CHECK(step * static_cast<double>(levels) <= norm * (1 + 0x1p-14) + ulps);
      const double least = std::min(norm, static_cast<double>(kFloatMax));
      CHECK(step * static_cast<double>(levels) >= least * (1 - 0x1p-22) - ulps);
      bool next = true;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::abs(static_cast<double>(y[i]) - input.x[i]);
        next = next && error <= step * (1 + 0x1p-14);  // 127 steps times 2^-23
      }
      CHECK(next);
    }
  }
}

TEST_CASE("qsgd: no bias, and the variance is below the paper's bound", "[codec]") {
  constexpr std::size_t kSize = 256;
  constexpr int kDraws = 2000;
  for (const std::int64_t levels : {1, 4, 16}) {
    CAPTURE(levels);
    const auto codec = qsgd(levels, kSize);
    const auto x = normal_input(kSize, test_seed(64));
    std::vector<double> sum(kSize);
    double variance = 0;
    for (std::uint64_t round = 0; round < kDraws; ++round) {
      const auto y = decoded(*codec, encoded(*codec, x, {.run_seed = 1, .round = round}), kSize);
      for (std::size_t i = 0; i < kSize; ++i) {
        const double error = static_cast<double>(y[i]) - x[i];
        sum[i] += error;
        variance += error * error / kDraws;
      }
    }
    const auto s = static_cast<double>(levels);
    const double bound = std::min(kSize / (s * s), std::sqrt(kSize) / s);
    // The mean of 2000 draws of 256 errors; what a norm rounded up by 2^-16 adds is far less.
    CHECK(variance <= bound * square_norm(x) * 1.01);
    // An error's variance is at most a quarter of a step squared: six standard errors.
    const double step = std::sqrt(square_norm(x)) / s;
    bool unbiased = true;
    for (const double error : sum) {
      unbiased = unbiased && std::abs(error / kDraws) <= 6 * step / 2 / std::sqrt(kDraws);
    }
    CHECK(unbiased);
  }
}

TEST_CASE("qsgd: a code takes the fewest bits that hold every level", "[codec]") {
  const auto x = normal_input(kGranule, 1);
  const auto bits = [&](std::int64_t levels) {
    return (encoded(*qsgd(levels, 4096), x).size() - 7) * 8 / kGranule;
  };
  CHECK(bits(1) == 2);
  CHECK(bits(3) == 3);
  CHECK(bits(4) == 4);
  CHECK(bits(7) == 4);
  CHECK(bits(8) == 5);
  CHECK(bits(127) == 8);
}

TEST_CASE("qsgd: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = qsgd(4, 16);  // codes 0..8 of 4 bits
  const auto good = encoded(*codec, normal_input(21, 1));
  const auto refused = [&](std::size_t at, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(21);
    ByteReader in(bytes);
    const Status status = codec->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(0, std::uint8_t{0}));
  CHECK(refused(0, std::uint8_t{128}));
  CHECK(refused(1, std::uint16_t{15}));
  CHECK(refused(1, std::uint16_t{4097}));
  for (const float step : {-1.0F, -0.0F, kFloatMax, kFloatMax / 3, float_of(kInfBits)}) {
    CHECK(refused(3, step));
  }
  CHECK(refused(3, 0.0F));                              // nothing but zeros has a step of zero
  CHECK(refused(7 + 6, std::uint16_t{0xffff}));         // the highest plane: 8 and more
  CHECK(refused(good.size() - 1, std::uint8_t{0x20}));  // the value after the last
}
