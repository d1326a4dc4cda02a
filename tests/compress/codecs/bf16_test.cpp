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

TEST_CASE("bf16: rounds to nearest, ties to even, never to Inf", "[codec]") {
  const auto round = [](std::uint32_t bits) { return to_bf16(float_of(bits)); };
  CHECK(round(0x3f800000) == 0x3f80);
  CHECK(round(0x3f808000) == 0x3f80);  // a tie: down to even
  CHECK(round(0x3f818000) == 0x3f82);  // a tie: up to even
  CHECK(round(0x3f808001) == 0x3f81);
  CHECK(round(0x3f807fff) == 0x3f80);
  CHECK(round(0x3fffffff) == 0x4000);  // carries into the exponent
  CHECK(round(0x80000000) == 0x8000);
  CHECK(round(0x00000001) == 0);
  CHECK(round(0x00018000) == 0x0002);  // denormals round alike
  CHECK(round(0x7f7fffff) == 0x7f7f);
  CHECK(round(0xff7fffff) == 0xff7f);
}

TEST_CASE("bf16: the error is at most half a step, a whole one next to the largest", "[codec]") {
  const auto codec = std::move(make_codec("bf16", {})).value();
  for (const Input& input : inputs(kGranule, test_seed(31))) {
    CAPTURE(input.name);
    const auto y = decoded(*codec, encoded(*codec, input.x), input.x.size());
    bool within = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
      // 8 significant bits: a step is 2^-7 of the power of two below x, denormals 2^-133.
      const double x = std::abs(static_cast<double>(input.x[i]));
      const int exponent = x == 0 ? -126 : std::max(std::ilogb(x), -126);
      const double step = std::ldexp(1.0, exponent - 7);
      const double allowed = x > 0x1.FEp127 ? step : step / 2;
      within = within && std::abs(static_cast<double>(y[i]) - input.x[i]) <= allowed;
    }
    CHECK(within);
  }
}

TEST_CASE("bf16: vectors and plain loops give the same bytes", "[codec][simd]") {
  const auto codec = std::move(make_codec("bf16", {})).value();
  for (const Input& input : inputs(777, test_seed(32))) {
    CAPTURE(input.name);
    std::vector<std::byte> expected(2 * input.x.size());
    for (std::size_t i = 0; i < input.x.size(); ++i) {
      const std::uint16_t half = to_bf16(input.x[i]);
      std::memcpy(expected.data() + 2 * i, &half, sizeof(half));
    }
    CHECK(encoded(*codec, input.x) == expected);
  }
}

TEST_CASE("bf16: NaN and Inf in the bytes are refused", "[codec]") {
  const auto codec = std::move(make_codec("bf16", {})).value();
  for (const std::size_t at : {std::size_t{0}, std::size_t{40}, std::size_t{70}}) {
    for (const int bits : {0x7f80, 0xff80, 0x7fc1, 0xffff}) {
      const auto bad = static_cast<std::uint16_t>(bits);
      auto bytes = encoded(*codec, normal_input(71, 1));
      std::memcpy(bytes.data() + 2 * at, &bad, sizeof(bad));
      std::vector<float> acc(71);
      ByteReader in(bytes);
      const Status status = codec->decode_add(in, {}, 1, acc);
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().code == Code::kBadFrame);
    }
  }
}
