#include "compress/lane.h"

#include <array>
#include <cmath>
#include <vector>

#include "compress/codecs/common.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using shoal::tests::test_seed;

namespace {

constexpr std::size_t kElements = 4096;
constexpr std::size_t kGranules = 256;

/// Words of consecutive granules, as encoders draw them.
std::vector<std::uint32_t> drawn(std::uint64_t seed) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t granule = 0; granule < kGranules; ++granule) {
    const Draws draws = draws_of({.run_seed = seed, .round = 7, .granule = granule});
    for (std::size_t i = 0; i < kElements; ++i) {
      words.push_back(draws(i));
    }
  }
  return words;
}

double uniform(std::uint32_t word) { return std::ldexp(static_cast<double>(word) + 0.5, -32); }

/// Correlation of words that lie `distance` apart.
double correlation(const std::vector<std::uint32_t>& words, std::size_t distance) {
  double sum = 0;
  for (std::size_t i = distance; i < words.size(); ++i) {
    sum += (uniform(words[i]) - 0.5) * (uniform(words[i - distance]) - 0.5);
  }
  return 12 * sum / static_cast<double>(words.size() - distance);
}

}  // namespace

TEST_CASE("draws: their mean and the counts in 256 buckets are those of uniform words", "[codec]") {
  const auto words = drawn(test_seed(56));
  const auto count = static_cast<double>(words.size());
  double mean = 0;
  // Of the highest bits, which decide, and of those below them.
  std::array<double, 256> high{};
  std::array<double, 256> low{};
  for (const std::uint32_t word : words) {
    mean += uniform(word) / count;
    high[word >> 24] += 1;
    low[(word >> 8) & 255] += 1;
  }
  CHECK(std::abs(mean - 0.5) <= 6 * std::sqrt(1 / (12 * count)));  // six standard errors
  for (const auto& buckets : {high, low}) {
    double chi_square = 0;
    for (const double n : buckets) {
      chi_square += std::pow(n - count / 256, 2) / (count / 256);
    }
    CHECK(std::abs(chi_square - 255) <= 6 * std::sqrt(2 * 255.0));  // variance 2 * 255
  }
}

TEST_CASE("draws: neighbours in a granule, and granules, have nothing in common", "[codec]") {
  const auto words = drawn(test_seed(57));
  for (const std::size_t distance : {std::size_t{1}, std::size_t{2}, std::size_t{3},
                                     std::size_t{16}, kElements, 2 * kElements}) {
    CAPTURE(distance);
    // Six standard errors: the product of two centred uniforms has variance 1/144.
    CHECK(std::abs(correlation(words, distance)) <=
          6 / std::sqrt(static_cast<double>(words.size())));
  }
}

TEST_CASE("draws: each part of the context changes them, and nothing else does", "[codec]") {
  const CodecContext context{.run_seed = 1, .round = 2, .granule = 3, .sender = 4};
  const auto first = [](const CodecContext& c) { return draws_of(c)(0); };
  CHECK(first(context) == first(context));
  for (auto part : {&CodecContext::run_seed, &CodecContext::round, &CodecContext::granule,
                    &CodecContext::sender}) {
    CodecContext other = context;
    other.*part = 5;
    CHECK(first(other) != first(context));
  }
  // As released: encodings of a replayed run depend on them.
  const Draws draws{.first = 1, .second = 2};
  CHECK(draws(0) == 0x7163343c);
  CHECK(draws(4095) == 0x975beeee);
}

TEST_CASE("randomly_rounded: next to x, and x on the average", "[codec]") {
  constexpr int kDraws = 100000;
  const Draws draws = draws_of({.run_seed = test_seed(58)});
  for (const float x : {0.0F, 0.25F, -0.25F, 3.0F, -126.875F, 6.5F, 0.01F}) {
    CAPTURE(x);
    double sum = 0;
    bool near = true;
    for (std::size_t i = 0; i < kDraws; ++i) {
      const std::int32_t rounded = randomly_rounded(x, 127, draws(i));
      near = near && std::abs(static_cast<float>(rounded) - x) < 1;
      sum += rounded;
    }
    CHECK(near);
    const double fraction = std::abs(x) - std::floor(std::abs(x));
    // Six standard errors of a choice between two integers, and the 2^-24 of the words.
    CHECK(std::abs(sum / kDraws - x) <=
          6 * std::sqrt(fraction * (1 - fraction) / kDraws) + 0x1p-24);
  }
}
