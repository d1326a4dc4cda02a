#include <algorithm>
#include <cmath>

#include "compress/index_coding.h"
#include "compress/lane.h"
#include "compress/select.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> topk(double density, const std::string& values = "int8") {
  Options options;
  options.set("density", density);
  options.set("values", values);
  return std::move(make_codec("topk", options)).value();
}

std::size_t nonzeros(std::span<const float> x) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](float v) { return v != 0; }));
}

/// A granule of bits: pairs of value and width.
std::vector<std::byte> bits(std::vector<std::pair<std::uint32_t, unsigned>> fields) {
  std::vector<std::byte> bytes(100);
  BitWriter out(bytes);
  for (const auto& [value, width] : fields) {
    out.put(value, width);
  }
  bytes.resize(out.finish());
  return bytes;
}

}  // namespace

TEST_CASE("topk: keeps the largest, about as many as asked for", "[codec]") {
  for (const double density : {0.001, 0.01, 0.1, 0.5, 1.0}) {
    const auto codec = topk(density, "fp32");
    for (const std::size_t n : {std::size_t{1}, std::size_t{200}, std::size_t{4096}}) {
      CAPTURE(density, n);
      const KeepCount keep(density, n);
      const auto x = normal_input(n, test_seed(51));
      const auto y = decoded(*codec, encoded(*codec, x), n);
      CHECK(nonzeros(y) >= keep.low);
      CHECK(nonzeros(y) <= keep.high);
      float smallest_kept = kFloatMax;
      float largest_lost = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (y[i] != 0) {
          CHECK(y[i] == x[i]);
          smallest_kept = std::min(smallest_kept, std::abs(x[i]));
        } else {
          largest_lost = std::max(largest_lost, std::abs(x[i]));
        }
      }
      CHECK(smallest_kept >= largest_lost);
    }
  }
}

TEST_CASE("topk: an exact selection holds as many as asked for, in the same format", "[codec]") {
  Options options;
  options.set("select", std::string("exact"));
  options.set("values", std::string("fp32"));
  for (const double density : {0.001, 0.01, 0.3}) {
    CAPTURE(density);
    options.set("density", density);
    const auto codec = std::move(make_codec("topk", options)).value();
    const auto x = normal_input(kGranule, test_seed(54));
    const auto y = decoded(*topk(0.01), encoded(*codec, x), kGranule);
    CHECK(nonzeros(y) == KeepCount(density, kGranule).aim);
  }
}

TEST_CASE("topk: a kept value costs at most 17 bits", "[codec]") {
  const auto codec = topk(0.01);
  std::size_t bytes = 0;
  std::size_t kept = 0;
  const auto x = normal_input(64 * kGranule, test_seed(52));
  for (std::size_t g = 0; g < 64; ++g) {
    const auto granule = std::span(x).subspan(g * kGranule, kGranule);
    const auto encoding = encoded(*codec, granule);
    bytes += encoding.size();
    kept += nonzeros(decoded(*codec, encoding, kGranule));
  }
  CAPTURE(bytes, kept);
  CHECK(8.0 * static_cast<double>(bytes) <= 17.0 * static_cast<double>(kept));
  CHECK(static_cast<double>(kept) >= 0.9 * 0.01 * 64 * kGranule);
}

TEST_CASE("topk: int8 and bf16 values err by no more than their steps", "[codec]") {
  for (const Input& input : inputs(kGranule, test_seed(53))) {
    CAPTURE(input.name);
    double max = 0;
    for (const float v : input.x) {
      max = std::max(max, std::abs(static_cast<double>(v)));
    }
    const auto y = decoded(*topk(0.1), encoded(*topk(0.1), input.x), kGranule);
    const auto z = decoded(*topk(0.1, "bf16"), encoded(*topk(0.1, "bf16"), input.x), kGranule);
    bool within = true;
    for (std::size_t i = 0; i < kGranule; ++i) {
      const double x = input.x[i];
      // Half a scale, that is at most 9/8 (max/127 and an ulp of denormals); next to the largest
      // float, where the scale is rounded down instead, max/127.
      const double int8_step = 9.0 / 8 * (max / 127 + std::ldexp(1.0, -149));
      const double int8_error = max > 0x1.FCp127 ? max / 127 : 0.5001 * int8_step;
      // Relative 2^-8, or, in a tiny granule, as int8.
      const double bf16_error = max < std::ldexp(1.0, -100) ? int8_error : std::abs(x) / 256;
      within = within && (y[i] == 0 || std::abs(y[i] - x) <= int8_error) &&
               (z[i] == 0 || std::abs(z[i] - x) <= bf16_error);
    }
    CHECK(within);
  }
}

TEST_CASE("topk: of equal values the first are kept", "[codec]") {
  const std::vector<float> x(kGranule, -2.0F);
  const auto y = decoded(*topk(0.01), encoded(*topk(0.01), x), kGranule);
  for (std::size_t i = 0; i < kGranule; ++i) {
    REQUIRE((y[i] != 0) == (i < 41));  // 0.01 * 4096, rounded up
  }
}

TEST_CASE("topk: zeros cost a byte and are never sent", "[codec]") {
  std::vector<float> x(kGranule);
  CHECK(encoded(*topk(0.01), x).size() == 1);
  x[7] = 1;
  x[4000] = -1e-3F;
  const auto y = decoded(*topk(0.01, "fp32"), encoded(*topk(0.01, "fp32"), x), kGranule);
  CHECK(equal_bits(y, std::vector<float>(x)) == false);  // what is not sent decodes to -0 here
  CHECK(nonzeros(y) == 2);
  CHECK(y[4000] == x[4000]);
}

TEST_CASE("topk: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = topk(0.01);
  const auto decodes = [&](std::vector<std::byte> head, std::vector<int> values) {
    for (const int v : values) {
      head.push_back(static_cast<std::byte>(v & 0xff));
    }
    std::vector<float> acc(10);
    ByteReader in(head);
    const Status status = codec->decode_add(in, {}, 1, acc);
    return status.ok() && in.left() == 0;
  };
  constexpr std::uint32_t kScale = 1000;  // a normal float
  const auto head = [](std::uint32_t k, std::uint32_t last, std::uint32_t scale) {
    return std::vector<std::pair<std::uint32_t, unsigned>>{{0, 2}, {k, 4}, {last, 12}, {scale, 12}};
  };
  const auto with_gaps = [](auto fields, std::vector<std::pair<std::uint32_t, unsigned>> gaps) {
    fields.insert(fields.end(), gaps.begin(), gaps.end());
    return bits(fields);
  };
  // Two values, k = 1: gap 4 is 011 (two ones, zero) and 0; gap 3 is 01 and 1.
  const std::vector<std::pair<std::uint32_t, unsigned>> good{{0b0011, 4}, {0b101, 3}};
  CHECK(decodes(with_gaps(head(1, 1, kScale), good), {5, -5}));
  CHECK_FALSE(decodes(with_gaps(head(1, 1, kScale), good), {5, 0}));
  CHECK_FALSE(decodes(with_gaps(head(1, 1, kScale), good), {-128, 5}));
  CHECK_FALSE(decodes(with_gaps(head(1, 1, kScale), good), {5}));
  CHECK_FALSE(decodes(with_gaps(head(12, 1, kScale), good), {5, 5}));  // k too large
  CHECK_FALSE(decodes(with_gaps(head(1, 10, kScale), good), {5, 5}));  // more than there are
  CHECK_FALSE(decodes(with_gaps(head(1, 1, 4095), good), {5, 5}));     // scale out of range
  CHECK_FALSE(decodes(with_gaps(head(1, 1, 0), good), {5, 5}));        // scale of zero
  CHECK_FALSE(decodes(with_gaps(head(1, 1, kScale), {{0b0011, 4}, {0b00111, 5}}), {5, 5}));
  CHECK_FALSE(decodes(with_gaps(head(1, 1, kScale), {{0b0011, 4}, {0b1101, 4}}), {5, 5}));
  CHECK(decodes(bits({{3, 2}}), {}));
  CHECK_FALSE(decodes(bits({{7, 3}}), {}));
  CHECK_FALSE(decodes({}, {}));
}
