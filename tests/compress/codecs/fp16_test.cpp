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

std::unique_ptr<Codec> fp16() { return std::move(make_codec("fp16", {})).value(); }

/// Value of finite half-precision bits, in doubles.
double value_of(int half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return half < 0x8000 ? magnitude : -magnitude;
}

}  // namespace

TEST_CASE("fp16: every half up to 2^15 goes to float and back", "[codec]") {
  bool same = true;
  for (int half = 0; half <= 0xffff; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    same = same &&
           ((half & 0x7fff) >= 0x7c00 || static_cast<double>(from_fp16(bits)) == value_of(half));
    same = same && ((half & 0x7fff) > 0x7800 || to_fp16(from_fp16(bits)) == bits);
  }
  CHECK(same);
}

TEST_CASE("fp16: between two halves the nearest is taken, ties to even", "[codec]") {
  bool nearest = true;
  for (int half = 0; half < 0x7800; ++half) {
    const auto low = static_cast<std::uint16_t>(half);
    const auto high = static_cast<std::uint16_t>(half + 1);
    const float middle = (from_fp16(low) + from_fp16(high)) / 2;  // exact: 12 bits
    nearest = nearest && to_fp16(middle) == (half % 2 == 0 ? low : high);
    nearest = nearest && to_fp16(float_of(bits_of(middle) - 1)) == low;
    nearest = nearest && to_fp16(float_of(bits_of(middle) + 1)) == high;
    nearest = nearest && to_fp16(-middle) == ((half % 2 == 0 ? low : high) | 0x8000);
  }
  CHECK(nearest);
}

TEST_CASE("fp16: the shift brings the largest to 2^14 and the smallest within reach", "[codec]") {
  CHECK(fp16_shift(bits_of(kFloatMax)) == -113);
  CHECK(fp16_shift(bits_of(1.0F)) == 14);
  CHECK(fp16_shift(bits_of(0x1p-113F)) == 127);
  CHECK(fp16_shift(1) == 127);
  CHECK(fp16_shift(0) == 127);
  // 3e-8 of a largest 1e-6 is below fp16's normal range, but not below the granule's.
  const std::vector<float> x{1e-6F, 3e-8F, -7e-12F};
  const auto y = decoded(*fp16(), encoded(*fp16(), x), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(std::abs(static_cast<double>(y[i]) - x[i]) <= std::abs(x[i]) * 0x1p-11);
  }
}

TEST_CASE("fp16: the error is at most half an ulp of 11 bits or of a denormal", "[codec]") {
  for (const Input& input : inputs(kGranule, test_seed(51))) {
    CAPTURE(input.name);
    const auto y = decoded(*fp16(), encoded(*fp16(), input.x), input.x.size());
    std::uint32_t max = 0;
    for (const float v : input.x) {
      max = std::max(max, abs_bits(v));
    }
    bool within = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double x = std::abs(static_cast<double>(input.x[i]));
      const double lowest = std::ldexp(1.0, -14 - fp16_shift(max));
      const double step = std::ldexp(1.0, x < lowest ? -24 - fp16_shift(max) : std::ilogb(x) - 10);
      // A float that small is a multiple of 2^-149 itself, and so is what it decodes to. Above
      // 0x1.FFEp127 the nearest would be Inf, so that the error may be a whole step.
      const double allowed = x >= 0x1.FFEp127 ? step : step / 2;
      within = within && std::abs(static_cast<double>(y[i]) - input.x[i]) <= allowed;
    }
    CHECK(within);
  }
}

TEST_CASE("fp16: vectors and plain loops give the same bytes", "[codec][simd]") {
  for (const Input& input : inputs(777, test_seed(52))) {
    CAPTURE(input.name);
    ByteWriter expected;
    std::uint32_t max = 0;
    for (const float v : input.x) {
      max = std::max(max, abs_bits(v));
    }
    const int shift = fp16_shift(max);
    expected.put(static_cast<std::int16_t>(shift));
    for (const float v : input.x) {
      const int over = abs_bits(v) >= kFp16Overflow ? 1 : 0;
      expected.put(static_cast<std::uint16_t>(to_fp16(v * power_of_two(shift)) - over));
    }
    CHECK(encoded(*fp16(), input.x) == expected.take());
  }
}

TEST_CASE("fp16: bytes that no encoder writes are refused", "[codec]") {
  const auto good = encoded(*fp16(), std::vector<float>(71, -1.0F));
  const auto status = [](std::vector<std::byte> bytes, std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(71);
    ByteReader in(bytes);
    return fp16()->decode_add(in, {}, 1, acc);
  };
  for (const std::size_t at : {std::size_t{2}, std::size_t{82}, std::size_t{142}}) {
    for (const int half : {0x7c00, 0xfc00, 0x7e01, 0xffff, 0x7801}) {
      const Status bad = status(good, at, static_cast<std::uint16_t>(half));
      REQUIRE_FALSE(bad.ok());
      CHECK(bad.error().code == Code::kBadFrame);
    }
    CHECK(status(good, at, std::uint16_t{0x7800}).ok());
  }
  CHECK_FALSE(status(good, 0, std::int16_t{-114}).ok());
  CHECK(status(good, 0, std::int16_t{-113}).ok());
  CHECK_FALSE(status(good, 0, std::int16_t{128}).ok());
  // 2^15 at the lowest shift would be Inf; a shift that leaves the range unused is no encoder's.
  const auto highest = encoded(*fp16(), std::vector<float>(71, kFloatMax));
  CHECK_FALSE(status(highest, 2, std::uint16_t{0x7800}).ok());
  CHECK_FALSE(status(encoded(*fp16(), std::vector<float>(71)), 0, std::int16_t{0}).ok());
}
