#include <algorithm>
#include <cmath>
#include <set>

#include "compress/lane.h"
#include "compress/random_support.h"
#include "compress/select.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> randomk(double density) {
  Options options;
  options.set("density", density);
  return std::move(make_codec("randomk", options)).value();
}

}  // namespace

TEST_CASE("random support: different indices, ascending, every one as likely", "[codec]") {
  constexpr std::size_t kElements = 100;
  constexpr int kDraws = 20000;
  for (const std::size_t count : {1U, 7U, 50U, 93U, 100U}) {
    std::vector<int> hits(kElements);
    std::vector<std::uint16_t> indices(count);
    bool good = true;
    for (std::uint32_t seed = 0; seed < kDraws; ++seed) {
      draw_support(seed, kElements, indices);
      good = good && std::adjacent_find(indices.begin(), indices.end(), std::greater_equal<>()) ==
                         indices.end();
      for (const std::uint16_t i : indices) {
        good = good && i < kElements;
        ++hits[i];
      }
    }
    CHECK(good);
    const double p = static_cast<double>(count) / kElements;
    // Five standard errors: one in 3,400 seeds of 500 counts would fail by chance.
    const double allowed = 5 * std::sqrt(kDraws * p * (1 - p));
    for (const int hit : hits) {
      CAPTURE(count, hit);
      CHECK(std::abs(hit - kDraws * p) <= allowed);
    }
  }
}

TEST_CASE("random support: pairs are as likely as in a sample without replacement", "[codec]") {
  constexpr int kDraws = 30000;
  std::vector<int> pairs(36);
  std::vector<std::uint16_t> indices(3);
  for (std::uint32_t seed = 0; seed < kDraws; ++seed) {
    draw_support(seed, 6, indices);
    for (const std::uint16_t a : indices) {
      for (const std::uint16_t b : indices) {
        pairs[a * 6U + b] += a < b ? 1 : 0;
      }
    }
  }
  const double p = 3.0 * 2 / (6 * 5);
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = a + 1; b < 6; ++b) {
      CHECK(std::abs(pairs[a * 6 + b] - kDraws * p) <= 5 * std::sqrt(kDraws * p * (1 - p)));
    }
  }
}

TEST_CASE("randomk: senders of a round keep the same values, other rounds others", "[codec]") {
  const auto codec = randomk(0.01);
  const auto kept = [&](const CodecContext& context) {
    const std::vector<float> ones(kGranule, 1.0F);
    const auto y = decoded(*codec, encoded(*codec, ones, context), kGranule);
    std::set<std::size_t> indices;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] != 0) {
        indices.insert(i);
      }
    }
    return indices;
  };
  const CodecContext base{.run_seed = 1, .round = 2, .granule = 3, .sender = 4};
  auto other = base;
  other.sender = 5;
  CHECK(kept(base).size() == 41);
  CHECK(kept(base) == kept(other));
  other.round = 3;
  CHECK(kept(base) != kept(other));
  other = base;
  other.granule = 4;
  CHECK(kept(base) != kept(other));
  other = base;
  other.run_seed = 2;
  CHECK(kept(base) != kept(other));
}

TEST_CASE("randomk: scaled by n/k it would be unbiased, of variance n/k - 1", "[codec]") {
  constexpr std::size_t kElements = 64;
  constexpr int kRounds = 20000;
  const auto seed = test_seed(151);
  const auto codec = randomk(0.25);
  const auto x = normal_input(kElements, seed);
  std::vector<double> sum(kElements);
  double error = 0;
  double norm = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto bytes = encoded(*codec, x, {.run_seed = seed, .round = round});
    const auto y = decoded(*codec, bytes, kElements);
    for (std::size_t i = 0; i < kElements; ++i) {
      const double scaled = 4.0 * y[i];
      sum[i] += scaled;
      error += (scaled - x[i]) * (scaled - x[i]) / kRounds;
    }
  }
  for (std::size_t i = 0; i < kElements; ++i) {
    norm += static_cast<double>(x[i]) * x[i];
    // A draw is 4 x with probability 1/4, else 0: its deviation is sqrt(3) |x|.
    CHECK(std::abs(sum[i] / kRounds - x[i]) <= 5 * std::sqrt(3.0 / kRounds) * std::abs(x[i]));
  }
  // |error|^2 of one draw is between 0 and 9 |x|^2, so its mean errs by less than 5 * 4.5 /
  // sqrt(T).
  CHECK(std::abs(error / norm - 3) <= 5 * 4.5 / std::sqrt(kRounds));
}

TEST_CASE("randomk: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = randomk(0.01);
  const auto decodes = [&](std::uint32_t header, std::vector<float> values) {
    ByteWriter out;
    out.put(header);
    out.put_bytes(std::as_bytes(std::span(values)));
    std::vector<float> acc(10);
    ByteReader in(out.span());
    return codec->decode_add(in, {}, 1, acc).ok() && in.left() == 0;
  };
  CHECK(decodes(1, {1, 2}));
  CHECK(decodes(1 | 77U << 12, {1, 2}));
  CHECK_FALSE(decodes(1, {1}));
  CHECK_FALSE(decodes(1, {1, std::numeric_limits<float>::infinity()}));
  CHECK_FALSE(decodes(10, std::vector<float>(11)));  // more than there are
  CHECK_FALSE(decodes(1 | 1U << 30, {1, 2}));        // bits that are always zero
}
