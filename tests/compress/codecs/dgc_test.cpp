#include <algorithm>

#include "compress/select.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> dgc(std::int64_t warmup, double density = 0.001) {
  Options options;
  options.set("warmup", warmup);
  options.set("density", density);
  return std::move(make_codec("dgc", options)).value();
}

std::size_t kept_in(const Codec& codec, std::span<const float> x, std::uint64_t round) {
  const auto y = decoded(codec, encoded(codec, x, {.round = round}), x.size());
  return static_cast<std::size_t>(
      std::count_if(y.begin(), y.end(), [](float v) { return v != 0; }));
}

}  // namespace

TEST_CASE("dgc: the density goes down in stages and ends where it was set", "[codec]") {
  const auto x = normal_input(kGranule, test_seed(161));
  const auto codec = dgc(10);
  const auto within = [&](std::uint64_t round, double density) {
    // Sampled selection keeps 7/8 to 5/4 of the share, int8 drops what rounds to zero: of the
    // largest quarter of normal values (above 1.15 of at most 5) nothing.
    const KeepCount keep(density, kGranule);
    const std::size_t kept = kept_in(*codec, x, round);
    return kept >= keep.low && kept <= keep.high;
  };
  CHECK(within(0, 0.25));
  CHECK(within(9, 0.25));
  CHECK(within(10, 0.063));
  CHECK(within(20, 0.015));
  CHECK(within(39, 0.004));
  CHECK(within(40, 0.001));
  CHECK(within(1U << 30, 0.001));
  CHECK(kept_in(*dgc(0), x, 0) <= KeepCount(0.001, kGranule).high);
  CHECK(kept_in(*dgc(10, 0.1), x, 25) >= KeepCount(0.1, kGranule).low);
}

TEST_CASE("dgc: writes what topk writes", "[codec]") {
  const auto x = normal_input(kGranule, test_seed(162));
  Options options;
  options.set("density", 0.05);
  const auto topk = std::move(make_codec("topk", options)).value();
  CHECK(encoded(*dgc(0, 0.05), x) == encoded(*topk, x));
  CHECK(dgc(0)->properties().momentum == 0.9F);
  CHECK(dgc(0)->properties().state == StateKind::kPrivate);
}
