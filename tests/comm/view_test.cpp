#include "comm/view.h"

#include <algorithm>

#include "comm/group_mean.h"
#include "ops/base/rng.h"
#include "tests/comm/wire/samples.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::comm::tests {
namespace {

std::vector<Member> members_of(const std::vector<std::uint64_t>& rates) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    members.push_back({{sample_peer(static_cast<std::uint8_t>(i + 1)), i + 1}, rates[i], 1});
  }
  return members;
}

/// Tensors of 1, 7, 2 and 10 granules and a packed one.
std::shared_ptr<const ParamMap> uneven_map() {
  ParamMap map;
  for (const std::int64_t rows : {64, 7 * 64, 2 * 64, 10 * 64}) {
    Param p;
    p.name = "m" + std::to_string(rows);
    p.shape = {rows, 64};
    REQUIRE(map.add(p).ok());
  }
  Param small;
  small.name = "small";
  small.shape = {5};
  REQUIRE(map.add(small).ok());
  map.seal();
  REQUIRE(map.granule_count() == 21);
  return std::make_shared<const ParamMap>(std::move(map));
}

std::shared_ptr<const compress::Codec> codec_named(const char* name) {
  return std::shared_ptr<const compress::Codec>(
      std::move(compress::make_codec(name, Options{})).value());
}

}  // namespace

TEST_CASE("view: parts are equal where rates are unknown, and follow them where not") {
  CHECK(balance_bounds(members_of({0, 5, 5}), 9) == std::vector<std::uint64_t>{0, 3, 6, 9});
  CHECK(balance_bounds(members_of({7, 1}), 8) == std::vector<std::uint64_t>{0, 4, 8});
  // T = V max(4/9, 1/1) = V: 1/1 of the slowest, which reduces nothing then.
  CHECK(balance_bounds(members_of({4, 1, 4}), 12) == std::vector<std::uint64_t>{0, 6, 6, 12});
}

TEST_CASE("view: no bound lies within a tensor that the answers' codec takes whole") {
  const auto map = uneven_map();
  const MayCut cuts = cuts_of(codec_named("powersgd"), map);
  const std::uint64_t seed = shoal::tests::test_seed(71);
  for (std::size_t n = 1; n <= 25; ++n) {
    std::vector<std::uint64_t> rates(n);
    for (std::size_t i = 0; i < n; ++i) {
      rates[i] = mix(seed + n, i) % 10;
    }
    CAPTURE(seed, n);
    View view;
    view.members = members_of(rates);
    view.bounds = balance_bounds(view.members, 21, cuts);
    CHECK(bounds_fit(view, 21, cuts));
  }
  // The nearest place: 10 of 21 goes to 10, where a tensor begins; 7 to 8.
  CHECK(balance_bounds(members_of({0, 0, 0}), 21, cuts) ==
        std::vector<std::uint64_t>{0, 8, 10, 21});
  CHECK(cuts_of(codec_named("int8"), map) == nullptr);
}

TEST_CASE("view: bounds that do not cut the model, or cut a tensor, do not fit") {
  const auto map = uneven_map();
  const MayCut cuts = cuts_of(codec_named("powersgd"), map);
  View view;
  view.members = members_of({1, 1});
  const auto fits = [&](std::vector<std::uint64_t> bounds, const MayCut& may_cut) {
    view.bounds = std::move(bounds);
    return bounds_fit(view, 21, may_cut);
  };
  CHECK(fits({0, 10, 21}, cuts));
  CHECK(fits({0, 0, 21}, cuts));
  CHECK(fits({0, 20, 21}, cuts));
  CHECK_FALSE(fits({0, 11, 21}, cuts));
  CHECK(fits({0, 11, 21}, nullptr));
  CHECK_FALSE(fits({0, 10, 20}, cuts));
  CHECK_FALSE(fits({1, 10, 21}, cuts));
  CHECK_FALSE(fits({0, 21}, cuts));
  CHECK_FALSE(fits({0, 22, 21}, cuts));
}

}  // namespace shoal::comm::tests
