#include "compress/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

TEST_CASE("selection: a wish in counts", "[select]") {
  CHECK(KeepCount(0.01, 4096).aim == 41);
  CHECK(KeepCount(0.07, 100).aim == 7);
  CHECK(KeepCount(1e-6, 1).aim == 1);
  const KeepCount all(1, 4096);
  CHECK(all.aim == 4096);
  CHECK(all.high == 4096);
  CHECK(all.low == 3584);
}

TEST_CASE("selection: the largest of any input, in order, none too few", "[select]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{300},
                              std::size_t{1500}, std::size_t{4096}}) {
    for (const Input& input : inputs(n, test_seed(71))) {
      for (const double density : {1e-6, 0.01, 0.2, 0.9, 1.0}) {
        CAPTURE(n, input.name, density);
        const KeepCount keep(density, n);
        std::vector<std::uint16_t> room(n);
        const Selection found = select_largest(input.x, keep, room);
        const auto kept = std::span(room).first(found.count);
        CHECK(found.max == abs_max(input.x));
        CHECK(std::is_sorted(kept.begin(), kept.end()));
        CHECK(std::adjacent_find(kept.begin(), kept.end()) == kept.end());
        std::vector<bool> chosen(n);
        std::uint32_t smallest = kInfBits;
        for (const std::uint16_t i : kept) {
          chosen[i] = true;
          smallest = std::min(smallest, abs_bits(input.x[i]));
        }
        std::uint32_t largest_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
          largest_left = chosen[i] ? largest_left : std::max(largest_left, abs_bits(input.x[i]));
        }
        CHECK(smallest > 0);
        CHECK(smallest >= largest_left);
        CHECK(kept.size() <= keep.high);
        CHECK((kept.size() >= keep.low || largest_left == 0));
        CHECK((density < 1 || largest_left == 0));
      }
    }
  }
}

TEST_CASE("selection: exactly as many as a stable sort would choose", "[select]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{300},
                              std::size_t{1500}, std::size_t{4096}}) {
    for (const Input& input : inputs(n, test_seed(72))) {
      std::vector<std::uint16_t> sorted(n);
      std::iota(sorted.begin(), sorted.end(), std::uint16_t{0});
      std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint16_t a, std::uint16_t b) {
        return abs_bits(input.x[a]) > abs_bits(input.x[b]);
      });
      const auto zero = std::find_if(sorted.begin(), sorted.end(),
                                     [&](std::uint16_t i) { return input.x[i] == 0; });
      const auto others = static_cast<std::size_t>(zero - sorted.begin());
      for (const double density : {1e-6, 0.001, 0.01, 0.2, 0.9, 1.0}) {
        CAPTURE(n, input.name, density);
        const KeepCount keep(density, n);
        std::vector<std::uint16_t> room(n);
        const Selection found = select_exactly(input.x, keep, room);
        room.resize(found.count);
        std::vector<std::uint16_t> expected(
            sorted.begin(),
            sorted.begin() + static_cast<std::ptrdiff_t>(std::min(keep.aim, others)));
        std::sort(expected.begin(), expected.end());
        CHECK(found.max == abs_max(input.x));
        CHECK(room == expected);
      }
    }
  }
}

TEST_CASE("selection: what is not finite shows in the maximum", "[select]") {
  for (const std::size_t n : {std::size_t{100}, std::size_t{1000}, std::size_t{4096}}) {
    for (const std::size_t at : {std::size_t{0}, n / 3, n - 1}) {
      auto x = normal_input(n, test_seed(73));
      x[at] = -std::numeric_limits<float>::infinity();
      std::vector<std::uint16_t> room(n);
      CHECK(select_largest(x, KeepCount(0.1, n), room).max >= kInfBits);
      CHECK(select_exactly(x, KeepCount(0.1, n), room).max >= kInfBits);
      CHECK(select_exactly(x, KeepCount(0.1, n), room).count == 0);
    }
  }
}
