#include "ops/base/rng.h"

#include <cmath>
#include <set>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("Philox-4x32-10 gives the published vectors", "[golden]") {
  // Source: Random123 1.14, tests/kat_vectors.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("an Rng goes on from its three numbers") {
  for (std::uint64_t drawn = 0; drawn < 9; ++drawn) {
    Rng whole(7, 11);
    for (std::uint64_t i = 0; i < drawn; ++i) {
      whole.next_u32();
    }
    Rng resumed(whole.seed(), whole.stream(), whole.position());
    for (int i = 0; i < 9; ++i) {
      REQUIRE(resumed.next_u32() == whole.next_u32());
    }
  }
}

TEST_CASE("streams and seeds differ") {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream) {
      firsts.insert(Rng(seed, stream).next_u64());
    }
  }
  CHECK(firsts.size() == 100);
}

TEST_CASE("below() is uniform and inside") {
  Rng rng(tests::test_seed(1), 0);
  constexpr std::size_t kBound = 7;
  constexpr int kDraws = 70000;
  std::vector<int> counts(kBound);
  for (int i = 0; i < kDraws; ++i) {
    ++counts.at(static_cast<std::size_t>(rng.below(kBound)));
  }
  // Chi squared with 6 degrees of freedom passes 40 with probability 5e-7.
  double chi = 0;
  for (const int count : counts) {
    const double expected = static_cast<double>(kDraws) / kBound;
    chi += (count - expected) * (count - expected) / expected;
  }
  CHECK(chi < 40);
  CHECK(rng.below(1) == 0);
}

TEST_CASE("uniform and normal have their moments") {
  Rng rng(tests::test_seed(2), 0);
  constexpr int kDraws = 40000;
  double sum = 0;
  double square = 0;
  double normal = 0;
  double normal_square = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    REQUIRE((u >= 0 && u < 1));
    const double n = rng.normal();
    sum += u;
    square += u * u;
    normal += n;
    normal_square += n * n;
  }
  // Each bound is five standard errors of its mean: sigma/sqrt(40000), with sigma of u 0.289, of
  // u^2 0.298, of n 1 and of n^2 sqrt(2).
  CHECK(std::abs(sum / kDraws - 0.5) < 5 * 0.289 / 200);
  CHECK(std::abs(square / kDraws - 1.0 / 3) < 5 * 0.298 / 200);
  CHECK(std::abs(normal / kDraws) < 5 * 1.0 / 200);
  CHECK(std::abs(normal_square / kDraws - 1) < 5 * 1.415 / 200);
}

}  // namespace
}  // namespace shoal
