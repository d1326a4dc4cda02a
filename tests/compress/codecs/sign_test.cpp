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

std::unique_ptr<Codec> sign() { return std::move(make_codec("sign", {})).value(); }

double one_norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) {
    sum += std::abs(static_cast<double>(v));
  }
  return sum;
}

}  // namespace

TEST_CASE("sign: a bit a value and their mean magnitude", "[codec]") {
  const std::vector<float> x{1, -2, 3, -4, 0.0F, -0.0F, 2, 4};  // mean 2
  const auto bytes = encoded(*sign(), x);
  REQUIRE(bytes.size() == 5);
  CHECK(bytes[4] == std::byte{0b00101010});
  CHECK(decoded(*sign(), bytes, x.size()) == std::vector<float>{2, -2, 2, -2, 2, -2, 2, 2});
  CHECK(encoded(*sign(), normal_input(kGranule, 1)).size() == 4 + kGranule / 8);
}

TEST_CASE("sign: the scale is the mean, whatever the magnitudes", "[codec]") {
  for (const std::size_t n : {std::size_t{7}, std::size_t{64}, std::size_t{4001}}) {
    for (const Input& input : inputs(n, test_seed(54))) {
      CAPTURE(n, input.name);
      const double mean = one_norm(input.x) / static_cast<double>(n);
      const auto y = decoded(*sign(), encoded(*sign(), input.x), n);
      if (mean < std::numeric_limits<float>::min()) {
        CHECK(std::count_if(y.begin(), y.end(), [](float v) { return v != 0; }) <= 1);
        continue;
      }
      bool good = true;
      for (std::size_t i = 0; i < n; ++i) {
        // A sum in turn of 4096 / 32 positive values is rounded 128 times, folding 5 times, the
        // quotient once: 134 * 2^-24 < 2^-16.
        good = good && std::abs(std::abs(static_cast<double>(y[i])) - mean) <= mean * 0x1p-16;
        good = good && std::signbit(y[i]) == std::signbit(input.x[i]);
      }
      CHECK(good);
    }
  }
}

TEST_CASE("sign: where the mean is too small for a scale the largest is sent alone", "[codec]") {
  std::vector<float> x(100, -float_of(3));
  x[40] = float_of(77);
  x[41] = -float_of(77);
  const auto y = decoded(*sign(), encoded(*sign(), x), x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(y[i] == (i == 40 ? float_of(77) : 0.0F));
  }
}

TEST_CASE("sign: what is lost is the part that the mean doesn't hold", "[codec]") {
  const auto x = normal_input(kGranule, test_seed(55));
  const auto y = decoded(*sign(), encoded(*sign(), x), x.size());
  double lost = 0;
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    lost += std::pow(static_cast<double>(x[i]) - y[i], 2);
    square += std::pow(static_cast<double>(x[i]), 2);
  }
  const double norm = one_norm(x);
  // (1 - e^2) of it, e < 2^-16 as above.
  CHECK(lost == Approx(square - norm * norm / kGranule).epsilon(1e-8));
}

TEST_CASE("sign: bytes that no encoder writes are refused", "[codec]") {
  const auto good = encoded(*sign(), normal_input(100, 1));
  const auto refused = [](std::vector<std::byte> bytes, std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(100);
    ByteReader in(bytes);
    const Status status = sign()->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  for (const float scale : {-1.0F, -0.0F, float_of(1), float_of(kInfBits), float_of(0x7fc00001)}) {
    CHECK(refused(good, 0, scale));
  }
  CHECK_FALSE(refused(good, 0, kFloatMax));
  CHECK(refused(good, good.size() - 1, std::uint8_t{0x10}));  // the 101st bit
  const auto alone = encoded(*sign(), std::vector<float>(100, float_of(5)));
  CHECK_FALSE(refused(alone, 4, std::uint16_t{99}));
  CHECK(refused(alone, 4, std::uint16_t{100}));
  CHECK(refused(alone, 6, 1.0F));
  CHECK(refused(alone, 6, float_of(kInfBits)));
  CHECK(refused(alone, 6, -0.0F));
  CHECK(refused(encoded(*sign(), std::vector<float>(100)), 4, std::uint16_t{1}));
}
