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

std::unique_ptr<Codec> int4(std::int64_t block, const char* rounding = "nearest") {
  Options options;
  options.set("block", block);
  options.set("rounding", std::string(rounding));
  return std::move(make_codec("int4", options)).value();
}

float scale_of(std::span<const float> x) {
  std::uint32_t max = 0;
  for (const float v : x) {
    max = std::max(max, abs_bits(v));
  }
  return scale_for(max, kInt4Max);
}

std::span<const float> block_of(std::span<const float> x, std::size_t i, std::size_t block) {
  const std::size_t begin = i / block * block;
  return x.subspan(begin, std::min(block, x.size() - begin));
}

/// The format in one plain loop.
std::vector<std::byte> plain_encoding(std::span<const float> x, std::uint16_t block) {
  ByteWriter out;
  out.put(block);
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    const auto part = block_of(x, begin, block);
    const float scale = scale_of(part);
    out.put(scale);
    const auto code = [&](std::size_t i) {
      const float steps = scale == 0 ? 0 : to_steps(part[i], BlockStep(scale));
      return i < part.size() ? static_cast<unsigned>(nearest_even(steps) + 8) : 0U;
    };
    const std::size_t half = (part.size() + 1) / 2;
    for (std::size_t j = 0; j < half; ++j) {
      const unsigned high = j + half < part.size() ? code(j + half) : 0U;
      out.put(static_cast<std::uint8_t>(code(j) | high << 4));
    }
  }
  return out.take();
}

}  // namespace

TEST_CASE("int4: two values a byte, rounded to nearest, ties to even", "[codec]") {
  const std::vector<float> x{7, 0.5F, 1.5F, -2.5F, -7};  // scale 1
  const auto bytes = encoded(*int4(32), x);
  REQUIRE(bytes.size() == 2 + 4 + 3);
  CHECK(bytes[6] == std::byte{0x6f});  // -2 and 7
  CHECK(bytes[8] == std::byte{0x0a});  // nothing and 2
  CHECK(decoded(*int4(32), bytes, x.size()) == std::vector<float>{7, 0, 2, -2, -7});
  // 4.25 bits a value.
  CHECK(encoded(*int4(128), normal_input(kGranule, 1)).size() == 2 + kGranule * 17 / 32);
}

TEST_CASE("int4: the error is at most half a step of the block, at random a whole one", "[codec]") {
  for (const std::size_t block : {std::size_t{32}, std::size_t{100}, std::size_t{4096}}) {
    for (const char* rounding : {"nearest", "stochastic"}) {
      const auto codec = int4(static_cast<std::int64_t>(block), rounding);
      for (const Input& input : inputs(kGranule - 1, test_seed(44))) {
        CAPTURE(block, rounding, input.name);
        const auto y = decoded(*codec, encoded(*codec, input.x), input.x.size());
        const double part = codec->properties().deterministic ? 0.5 : 1;
        bool within = true;
        for (std::size_t i = 0; i < y.size(); ++i) {
          // The reciprocal, the product and the decoded value are rounded, which moves 7 steps by
          // less than 7 * 3 * 2^-24 of one.
          const double allowed =
              part * scale_of(block_of(input.x, i, block)) * (1 + std::ldexp(1.0, -18));
          within = within && std::abs(static_cast<double>(y[i]) - input.x[i]) <= allowed;
        }
        CHECK(within);
      }
    }
  }
}

TEST_CASE("int4: vectors and plain loops give the same bytes", "[codec][simd]") {
  for (const std::uint16_t block : {std::uint16_t{32}, std::uint16_t{77}, std::uint16_t{128}}) {
    for (const Input& input : inputs(777, test_seed(45))) {
      CAPTURE(block, input.name);
      CHECK((encoded(*int4(block), input.x) == plain_encoding(input.x, block)));
    }
  }
}

TEST_CASE("int4: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = int4(32);
  const auto good = encoded(*codec, normal_input(97, 1));  // the last block has one value
  const auto refused = [&](std::size_t at, auto value) {
    auto bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(97);
    ByteReader in(bytes);
    const Status status = codec->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(0, std::uint16_t{31}));
  CHECK(refused(0, std::uint16_t{4097}));
  for (const float scale : {-1.0F, -0.0F, kFloatMax, kFloatMax / 6, float_of(kInfBits)}) {
    CHECK(refused(2, scale));
    CHECK(refused(22, scale));  // the second block
  }
  CHECK(refused(2, 0.0F));  // nothing but zeros has a scale of zero
  CHECK(refused(6, std::uint8_t{0x0f}));
  CHECK(refused(6, std::uint8_t{0xf0}));
  CHECK_FALSE(refused(6, std::uint8_t{0x1f}));
  CHECK(refused(good.size() - 1, std::uint8_t{0x18}));  // the value after the last
  CHECK_FALSE(refused(good.size() - 1, std::uint8_t{0x08}));
}
