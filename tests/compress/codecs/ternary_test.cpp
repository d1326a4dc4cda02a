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

std::unique_ptr<Codec> ternary(double clip) {
  Options options;
  options.set("clip", clip);
  return std::move(make_codec("ternary", options)).value();
}

float scale_of(ByteSpan bytes) {
  float scale = 0;
  std::memcpy(&scale, bytes.data(), sizeof(scale));
  return scale;
}

}  // namespace

TEST_CASE("ternary: five values a byte, each zero or the scale with its sign", "[codec]") {
  // The largest is drawn surely, zero never: digits 2 1 0 1 1, then 1 and four of padding.
  const std::vector<float> x{2, 0, -2, 0, 0, -0.0F};
  const auto bytes = encoded(*ternary(0), x);
  REQUIRE(bytes.size() == 6);
  CHECK(scale_of(bytes) == 2);
  CHECK(std::to_integer<int>(bytes[4]) == 2 + 3 * 1 + 9 * 0 + 27 * 1 + 81 * 1);
  CHECK(std::to_integer<int>(bytes[5]) == 1);
  CHECK(decoded(*ternary(0), bytes, 6) == std::vector<float>{2, 0, -2, 0, 0, 0});
  CHECK(encoded(*ternary(0), normal_input(kGranule, 1)).size() == 4 + 820);  // 1.6 bits a value
}

TEST_CASE("ternary: the scale is the largest or the clipped magnitude", "[codec]") {
  for (const Input& input : inputs(1000, test_seed(65))) {
    CAPTURE(input.name);
    double square = 0;
    float max = 0;
    for (const float v : input.x) {
      square += static_cast<double>(v) * v / 1000;
      max = std::max(max, std::abs(v));
    }
    CHECK(scale_of(encoded(*ternary(0), input.x)) == max);
    const double limit = std::max<double>(2.5 * std::sqrt(square), kFloatMin);
    const double expected = std::min<double>(limit, max);
    // A sum in lanes, folded: 2^-17 at most, its root and products.
    CHECK(std::abs(scale_of(encoded(*ternary(2.5), input.x)) - expected) <= expected * 0x1p-16);
  }
}

TEST_CASE("ternary: drawn in proportion, so that without clipping the mean is x", "[codec]") {
  constexpr int kDraws = 4000;
  const auto x = normal_input(100, test_seed(66));
  CHECK(ternary(0)->properties().unbiased);
  CHECK_FALSE(ternary(2.5)->properties().unbiased);
  for (const double clip : {0.0, 1.0}) {
    CAPTURE(clip);
    std::vector<double> sum(x.size());
    double scale = 0;
    for (std::uint64_t round = 0; round < kDraws; ++round) {
      const auto bytes = encoded(*ternary(clip), x, {.run_seed = 2, .round = round});
      const auto y = decoded(*ternary(clip), bytes, x.size());
      scale = scale_of(bytes);
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum[i] += y[i];
      }
    }
    bool right = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double cut = std::clamp<double>(x[i], -scale, scale);
      // A draw's variance is |x| (scale - |x|): six standard errors, and Bernstein's term where few
      // draws hit.
      const double variance = std::abs(cut) * (scale - std::abs(cut));
      right = right && std::abs(sum[i] / kDraws - cut) <=
                           6 * std::sqrt(variance / kDraws) + 6 * scale / kDraws;
    }
    CHECK(right);
  }
}

TEST_CASE("ternary: bytes that no encoder writes are refused", "[codec]") {
  const auto good = encoded(*ternary(0), normal_input(13, 1));
  const auto refused = [&](std::size_t at, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(13);
    ByteReader in(bytes);
    const Status status = ternary(0)->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  for (const float scale : {-1.0F, -0.0F, float_of(kInfBits), float_of(0x7fc00000)}) {
    CHECK(refused(0, scale));
  }
  CHECK(refused(0, 0.0F));  // nothing but zeros has a scale of zero
  CHECK(refused(4, std::uint8_t{243}));
  CHECK_FALSE(refused(4, std::uint8_t{242}));
  CHECK(refused(6, std::uint8_t{27}));  // the digit after the last
}
