#include "compress/select.h"

#include <algorithm>
#include <cmath>

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
        const auto kept = std::span(room).first(select_largest(input.x, keep, room));
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
      }
    }
  }
}
