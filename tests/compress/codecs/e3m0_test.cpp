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

std::unique_ptr<Codec> e3m0(std::int64_t block, const char* rounding = "nearest") {
  Options options;
  options.set("block", block);
  options.set("rounding", std::string(rounding));
  return std::move(make_codec("e3m0", options)).value();
}

int base_at(ByteSpan bytes, std::size_t at) {
  std::uint16_t field = 0;
  std::memcpy(&field, bytes.data() + at, sizeof(field));
  return field - 149;
}

/// Magnitude of a code, in doubles.
double value_of(int code, int base) { return code == 0 ? 0 : std::ldexp(1.0, base + code - 1); }

}  // namespace

TEST_CASE("e3m0: a sign and a power of two below the largest, or zero", "[codec]") {
  const std::vector<float> x{-8, 6, 5.99F, 3, 0.0625F, 0.0624F, 0, 0.125F, 0.187F};
  const auto bytes = encoded(*e3m0(32), x);
  REQUIRE(bytes.size() == 2 + 2 + 5);
  CHECK(base_at(bytes, 2) == -3);
  CHECK(decoded(*e3m0(32), bytes, x.size()) ==
        std::vector<float>{-8, 8, 4, 4, 0.125F, 0, 0, 0.125F, 0.125F});  // ties away from zero
  // 4.25 bits a value.
  CHECK(encoded(*e3m0(64), normal_input(kGranule, 1)).size() == 2 + kGranule * 17 / 32);
}

TEST_CASE("e3m0: every value is the nearest of the fifteen", "[codec]") {
  for (const Input& input : inputs(64, test_seed(67))) {
    CAPTURE(input.name);
    const auto bytes = encoded(*e3m0(64), input.x);
    const auto y = decoded(*e3m0(64), bytes, input.x.size());
    bool nearest = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double x = std::abs(static_cast<double>(input.x[i]));
      double best = 0;
      for (int code = 1; code <= 7; ++code) {
        const double value = value_of(code, base_at(bytes, 2));
        best = std::abs(value - x) <= std::abs(best - x) ? value : best;  // ties up
      }
      nearest = nearest && std::abs(static_cast<double>(y[i])) == best;
      nearest = nearest && std::signbit(y[i]) == std::signbit(input.x[i]);
    }
    CHECK(nearest);
  }
}

TEST_CASE("e3m0: the largest power is the one next to the largest value", "[codec]") {
  const auto top = [](float x, bool above) { return power_exponent(bits_of(x), above); };
  CHECK(top(1, false) == 0);
  CHECK(top(1, true) == 0);
  CHECK(top(1.49F, false) == 0);
  CHECK(top(1.5F, false) == 1);
  CHECK(top(1.01F, true) == 1);
  CHECK(top(kFloatMax, false) == 127);
  CHECK(top(kFloatMax, true) == 127);
  CHECK(top(float_of(1), false) == -149);
  CHECK(top(float_of(3), false) == -147);  // a tie: up
  CHECK(top(float_of(5), true) == -146);
  CHECK(e3m0_base(1, false) == -149);
  CHECK(e3m0_base(0, false) == -149);
}

TEST_CASE("e3m0: at random one of the two values next to x, x on the average", "[codec]") {
  constexpr int kDraws = 4000;
  const auto codec = e3m0(64, "stochastic");
  CHECK(codec->properties().unbiased);
  const auto x = normal_input(64, test_seed(68));
  std::vector<double> sum(x.size());
  bool next = true;
  for (std::uint64_t round = 0; round < kDraws; ++round) {
    const auto bytes = encoded(*codec, x, {.run_seed = 3, .round = round});
    const auto y = decoded(*codec, bytes, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double magnitude = std::abs(static_cast<double>(x[i]));
      int above = 1;
      while (value_of(above, base_at(bytes, 2)) < magnitude) {
        ++above;
      }
      const double value = std::abs(static_cast<double>(y[i]));
      next = next && (value == value_of(above, base_at(bytes, 2)) ||
                      value == value_of(above - 1, base_at(bytes, 2)));
      sum[i] += y[i];
    }
  }
  CHECK(next);
  bool unbiased = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Two values a step apart, which is at most the value, or the smallest of them (1/64 of 4 at
    // most): variance a quarter of its square; Bernstein's term where few draws hit.
    const double step = std::max<double>(std::abs(x[i]), 4.0 / 64);
    unbiased = unbiased && std::abs(sum[i] / kDraws - x[i]) <=
                               6 * step / 2 / std::sqrt(kDraws) + 6 * step / kDraws;
  }
  CHECK(unbiased);
}

TEST_CASE("e3m0: vectors and plain loops give the same bytes", "[codec][simd]") {
  for (const std::size_t block : {std::size_t{32}, std::size_t{77}, std::size_t{1000}}) {
    for (const Input& input : inputs(777, test_seed(69))) {
      CAPTURE(block, input.name);
      ByteWriter expected;
      expected.put(static_cast<std::uint16_t>(block));
      for (std::size_t begin = 0; begin < input.x.size(); begin += block) {
        const auto part =
            std::span(input.x).subspan(begin, std::min(block, input.x.size() - begin));
        std::uint32_t max = 0;
        for (const float v : part) {
          max = std::max(max, abs_bits(v));
        }
        const int base = e3m0_base(max, false);
        expected.put(static_cast<std::uint16_t>(base + 149));
        const auto code = [&](std::size_t i) {
          return to_e3m0(part[i], E3m0Unit(base), kE3m0Nearest) | bits_of(part[i]) >> 31 << 3;
        };
        const std::size_t half = nibble_bytes(part.size());
        for (std::size_t j = 0; j < half; ++j) {
          const auto high = j + half < part.size() ? code(j + half) : 0U;
          expected.put(static_cast<std::uint8_t>(code(j) | high << 4));
        }
      }
      CHECK(encoded(*e3m0(static_cast<std::int64_t>(block)), input.x) == expected.take());
    }
  }
}

TEST_CASE("e3m0: bytes that no encoder writes are refused", "[codec]") {
  const auto good = encoded(*e3m0(32), normal_input(35, 1));
  const auto refused = [&](std::size_t at, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(35);
    ByteReader in(bytes);
    const Status status = e3m0(32)->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(0, std::uint16_t{31}));
  CHECK(refused(0, std::uint16_t{4097}));
  CHECK_FALSE(refused(2, std::uint16_t{270}));
  CHECK(refused(2, std::uint16_t{271}));
  CHECK(refused(20, std::uint16_t{0xffff}));
  CHECK(refused(good.size() - 1, std::uint8_t{0x10}));  // the value after the last
}
