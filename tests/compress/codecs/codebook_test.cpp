#include <algorithm>
#include <array>
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

std::unique_ptr<Codec> codebook(std::int64_t bits) {
  Options options;
  options.set("bits", bits);
  return std::move(make_codec("codebook", options)).value();
}

/// |decoded - x|^2 / |x|^2.
double relative_error(const Codec& codec, std::span<const float> x) {
  const auto y = decoded(codec, encoded(codec, x), x.size());
  double error = 0;
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += std::pow(static_cast<double>(y[i]) - x[i], 2);
    square += std::pow(static_cast<double>(x[i]), 2);
  }
  return error / square;
}

}  // namespace

TEST_CASE("codebook: as many values as the book has come back as they are", "[codec]") {
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(std::array{-3.0F, 0.75F, 1.5F, 3.0F}[static_cast<std::size_t>(i * i % 7 % 4)]);
  }
  CHECK(equal_bits(decoded(*codebook(2), encoded(*codebook(2), x), x.size()), x));
  CHECK(encoded(*codebook(4), normal_input(kGranule, 1)).size() == 5 + 32 + kGranule / 2);
  CHECK(encoded(*codebook(4), std::vector<float>(kGranule)).size() == 5);
}

TEST_CASE("codebook: of normal values it is as good as the best book there is", "[codec]") {
  // Errors of the best quantisers of a normal variable: Max, "Quantizing for minimum distortion",
  // IRE Trans. Information Theory 6, 1960, table I.
  const auto x = normal_input(kGranule, test_seed(46));
  for (const auto& [bits, best] :
       {std::pair(2, 0.1175), std::pair(3, 0.03454), std::pair(4, 0.009497)}) {
    CAPTURE(bits);
    // The variance of a sample of 4096 has a spread of 2.2 %, so has its error; 16 rounds of
    // Lloyd's iteration end near, not at a minimum.
    CHECK(relative_error(*codebook(bits), x) <= 1.12 * best);
  }
}

TEST_CASE("codebook: a few large values among small ones are not forgotten", "[codec]") {
  auto x = normal_input(kGranule, test_seed(47));
  for (std::size_t i = 0; i < x.size(); i += 512) {
    x[i] = i % 1024 == 0 ? 100.0F : -100.0F;
  }
  // Eight of these hold 95 % of the energy. Entries by rank alone would miss them.
  CHECK(relative_error(*codebook(4), x) < 0.02);
}

TEST_CASE("codebook: more bits never err more", "[codec]") {
  for (const Input& input : inputs(1000, test_seed(48))) {
    CAPTURE(input.name);
    const bool zeros = std::all_of(input.x.begin(), input.x.end(), [](float v) { return v == 0; });
    double before = 1;
    for (const int bits : {2, 4, 8}) {
      const double error = zeros ? 0 : relative_error(*codebook(bits), input.x);
      // Half a bin of 1/1024 each is rounded away with any book: (1/2048)^2 of the largest, which
      // is at least 1/1000 of the energy. A denormal is rounded to a whole ulp besides.
      CHECK((error <= before + 1000 * std::pow(1.0 / 2048, 2) || input.name == "few ulps" ||
             input.name == "smallest denormals"));
      before = error;
    }
  }
}

TEST_CASE("codebook: bytes that no encoder writes are refused", "[codec]") {
  const auto good = encoded(*codebook(2), normal_input(13, 1));
  const auto refused = [](std::vector<std::byte> bytes, std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    std::vector<float> acc(13);
    ByteReader in(bytes);
    const Status status = codebook(4)->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(good, 0, std::uint8_t{1}));
  CHECK(refused(good, 0, std::uint8_t{9}));
  for (const float max : {-1.0F, -0.0F, float_of(kInfBits), float_of(0x7fc00000)}) {
    CHECK(refused(good, 1, max));
  }
  CHECK(refused(good, 5, std::int16_t{-16385}));
  CHECK(refused(good, 5, std::int16_t{16384}));  // above the next
  CHECK(refused(good, 11, std::int16_t{16385}));
  CHECK_FALSE(refused(good, 11, std::int16_t{16384}));
  CHECK(refused(good, good.size() - 1, std::uint8_t{0x20}));  // the index after the last
}
