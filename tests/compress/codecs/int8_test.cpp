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

std::unique_ptr<Codec> int8(std::int64_t block) {
  Options options;
  options.set("block", block);
  return std::move(make_codec("int8", options)).value();
}

/// The format written out in plain loops.
std::vector<std::byte> plain_encoding(std::span<const float> x, std::uint16_t block) {
  ByteWriter out;
  out.put(block);
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    const auto part = x.subspan(begin, std::min<std::size_t>(block, x.size() - begin));
    std::uint32_t max = 0;
    for (const float v : part) {
      max = std::max(max, abs_bits(v));
    }
    const float scale = int8_scale(max);
    out.put(scale);
    for (const float v : part) {
      out.put(scale == 0 ? std::int8_t{0} : to_int8(v, Int8Step(scale)));
    }
  }
  return out.take();
}

}  // namespace

TEST_CASE("int8: rounds to nearest, ties to even", "[codec]") {
  CHECK(nearest_even(0.5F) == 0);
  CHECK(nearest_even(1.5F) == 2);
  CHECK(nearest_even(-2.5F) == -2);
  CHECK(nearest_even(-126.51F) == -127);
  std::vector<float> x{127, 0.5F, 1.5F, -2.5F, -0.5F, 3.49F, -127};  // scale 1
  const auto y = decoded(*int8(256), encoded(*int8(256), x), x.size());
  CHECK(y == std::vector<float>{127, 0, 2, -2, 0, 3, -127});
}

TEST_CASE("int8: a scale reaches the block's largest and stays finite", "[codec]") {
  Rng rng(test_seed(41), 0);
  for (int i = 0; i < 20000; ++i) {
    const auto max = static_cast<std::uint32_t>(1 + rng.below(kInfBits - 1));
    const float scale = int8_scale(max);
    REQUIRE(scale > 0);
    REQUIRE(int8_scale_valid(scale));
    // One step's worth of 127 is the largest but for one rounding, 2^-23 of it or an ulp up.
    REQUIRE(
        std::abs(127.0 * scale - float_of(max)) <=
        std::max(127 * std::ldexp(1.0, -149), std::ldexp(static_cast<double>(float_of(max)), -22)));
    REQUIRE(to_int8(float_of(max), Int8Step(scale)) >= 64);  // denormals: 1 ulp of 64.., 127 else
  }
}

TEST_CASE("int8: the error is at most half a step of the block", "[codec]") {
  for (const std::int64_t block : {16, 100, 256, 4096}) {
    const auto codec = int8(block);
    for (const Input& input : inputs(kGranule - 1, test_seed(42))) {
      CAPTURE(block, input.name);
      const auto y = decoded(*codec, encoded(*codec, input.x), input.x.size());
      bool within = true;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto begin = i / static_cast<std::size_t>(block) * static_cast<std::size_t>(block);
        const auto end = std::min(begin + static_cast<std::size_t>(block), y.size());
        std::uint32_t max = 0;
        for (std::size_t j = begin; j < end; ++j) {
          max = std::max(max, abs_bits(input.x[j]));
        }
        // Half a step; the reciprocal, the product and the decoded value are rounded, which moves
        // 127 steps by less than 127 * 3 * 2^-24 of one: 2^-15.
        const double allowed = 0.5 * int8_scale(max) * (1 + std::ldexp(1.0, -14));
        within = within && std::abs(static_cast<double>(y[i]) - input.x[i]) <= allowed;
      }
      CHECK(within);
    }
  }
}

TEST_CASE("int8: vectors and plain loops give the same bytes", "[codec][simd]") {
  for (const std::uint16_t block : {std::uint16_t{16}, std::uint16_t{77}, std::uint16_t{256}}) {
    for (const Input& input : inputs(777, test_seed(43))) {
      CAPTURE(block, input.name);
      CHECK((encoded(*int8(block), input.x) == plain_encoding(input.x, block)));
    }
  }
}

TEST_CASE("int8: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = int8(16);
  const auto good = encoded(*codec, normal_input(100, 1));
  const auto refused = [&](std::size_t at, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(100);
    ByteReader in(bytes);
    const Status status = codec->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(0, std::uint16_t{15}));
  CHECK(refused(0, std::uint16_t{4097}));
  CHECK(
      refused(0, std::uint16_t{17}));  // fewer scales than there are: bytes left over or a bad one
  for (const float scale : {-1.0F, -0.0F, kFloatMax, kFloatMax / 126, float_of(kInfBits)}) {
    CHECK(refused(2, scale));
    CHECK(refused(22, scale));  // the second block
  }
  CHECK(refused(2, 0.0F));  // nothing but zeros has a scale of zero
  CHECK(refused(6, std::int8_t{-128}));
  CHECK(refused(good.size() - 1, std::int8_t{-128}));
  CHECK_FALSE(refused(6, std::int8_t{-127}));
}
