#include "node/data/augment.h"

#include <array>
#include <cmath>
#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using node::Crop;
using node::draw_crop;
using node::ImageSize;

constexpr ImageSize kSize{2, 3, 4};

/// Pixel k of the image has value k + 1; black stays 0.
std::vector<float> put(const Crop& crop) {
  std::vector<std::uint8_t> pixels(kSize.pixels());
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{1});
  const std::vector<node::Affine> channels = {{1, 0}, {1, 0.5}};
  std::vector<float> out(kSize.pixels(), -1);
  node::put_image(kSize, pixels, crop, channels, out);
  return out;
}

TEST_CASE("an image is moved, padded with black and mirrored") {
  CHECK(put({}) == std::vector<float>{1,    2,    3,    4,    5,    6,    7,    8,
                                      9,    10,   11,   12,   13.5, 14.5, 15.5, 16.5,
                                      17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5});
  CHECK(put({1, -1, false}) == std::vector<float>{0,   5,    6,    7,    0,   9,    10,   11,
                                                  0,   0,    0,    0,    0.5, 17.5, 18.5, 19.5,
                                                  0.5, 21.5, 22.5, 23.5, 0.5, 0.5,  0.5,  0.5});
  CHECK(put({-2, 1, true}) == std::vector<float>{0,   0,   0,   0,   0,   0,    0,    0,
                                                 0,   4,   3,   2,   0.5, 0.5,  0.5,  0.5,
                                                 0.5, 0.5, 0.5, 0.5, 0.5, 16.5, 15.5, 14.5});
  for (const std::int64_t far : {-7, -4, 4, 9}) {  // wholly outside
    const auto out = put({0, far, false});
    CHECK(std::all_of(out.begin(), out.begin() + 12, [](float v) { return v == 0; }));
  }
}

TEST_CASE("crops are drawn evenly, each from its own numbers") {
  const std::uint64_t seed = test_seed(21);
  constexpr int kDraws = 9000;
  std::array<int, 9> tops{};
  std::array<int, 9> lefts{};
  int flips = 0;
  int equal_tops = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const Crop crop = draw_crop(seed, 7, i, 4);
    REQUIRE(std::abs(crop.top) <= 4);
    REQUIRE(std::abs(crop.left) <= 4);
    ++tops.at(static_cast<std::size_t>(crop.top + 4));
    ++lefts.at(static_cast<std::size_t>(crop.left + 4));
    flips += crop.flip ? 1 : 0;
    equal_tops += crop.top == draw_crop(seed, 8, i, 4).top ? 1 : 0;
  }
  // Six deviations of binomials: sqrt(9000 * 1/9 * 8/9) = 30 and sqrt(9000 / 4) = 47.
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(std::abs(tops[i] - 1000) < 180);
    CHECK(std::abs(lefts[i] - 1000) < 180);
  }
  CHECK(std::abs(flips - kDraws / 2) < 285);
  CHECK(std::abs(equal_tops - 1000) < 180);
  const Crop none = draw_crop(seed, 1, 2, 0);
  CHECK((none.top == 0 && none.left == 0));
}

}  // namespace
}  // namespace shoal::tests
