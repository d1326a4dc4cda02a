#include "ops/parameters.h"

#include <algorithm>
#include <vector>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal {
namespace {

constexpr std::uint64_t kUniverse = 64;

std::vector<bool> members(const Ranges& ranges) {
  std::vector<bool> in(kUniverse);
  for (std::uint64_t i = 0; i < kUniverse; ++i) {
    in[i] = ranges.contains(i);
  }
  return in;
}

bool canonical(const Ranges& ranges) {
  const auto& list = ranges.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].empty() || (i > 0 && list[i].begin <= list[i - 1].end)) {
      return false;
    }
  }
  return true;
}

Range random_range(Rng& rng) {
  const auto begin = rng.below(kUniverse);
  return {begin, begin + rng.below(kUniverse - begin + 1)};
}

TEST_CASE("Ranges behave as a set of numbers") {
  Rng rng(tests::test_seed(4), 0);
  for (int round = 0; round < 300; ++round) {
    Ranges ranges;
    Ranges other;
    std::vector<bool> model(kUniverse);
    for (int i = 0; i < 12; ++i) {
      const auto range = random_range(rng);
      const bool add = rng.below(3) != 0;
      add ? ranges.add(range) : ranges.remove(range);
      other.add(random_range(rng));
      std::fill(model.begin() + static_cast<std::ptrdiff_t>(range.begin),
                model.begin() + static_cast<std::ptrdiff_t>(range.end), add);
      REQUIRE(members(ranges) == model);
      REQUIRE(canonical(ranges));
      REQUIRE(ranges.size() ==
              static_cast<std::uint64_t>(std::count(model.begin(), model.end(), true)));
    }
    const auto both = ranges.intersect(other);
    REQUIRE(canonical(both));
    REQUIRE(both == other.intersect(ranges));
    const auto in_other = members(other);
    for (std::uint64_t i = 0; i < kUniverse; ++i) {
      REQUIRE(both.contains(i) == (model[i] && in_other[i]));
    }
  }
}

Param param(std::string name, std::vector<std::int64_t> shape) {
  Param p;
  p.name = std::move(name);
  p.shape = std::move(shape);
  return p;
}

TEST_CASE("a map lays out tensors on granules, packed ones behind") {
  Rng rng(tests::test_seed(5), 0);
  for (int round = 0; round < 100; ++round) {
    ParamMap map;
    const auto count = 1 + rng.below(8);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto size = rng.below(4) == 0 ? kGranule - 1 + rng.below(3) : 1 + rng.below(9000);
      REQUIRE(map.add(param("p" + std::to_string(i), {static_cast<std::int64_t>(size)})).ok());
    }
    map.seal();
    REQUIRE(map.flat_size() % kGranule == 0);
    std::vector<int> owners(static_cast<std::size_t>(map.flat_size()));
    for (const auto& p : map.params()) {
      const bool large = p.elements >= kGranule;
      REQUIRE((!large || p.offset % kGranule == 0));
      REQUIRE(large == (p.offset < map.first_packed_granule() * kGranule));
      for (std::uint64_t i = 0; i < p.elements; ++i) {
        ++owners.at(static_cast<std::size_t>(p.offset + i));
      }
    }
    std::uint64_t used = 0;
    for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
      const auto elements = map.granule_elements(g);
      REQUIRE(elements >= 1);
      for (std::uint64_t i = 0; i < kGranule; ++i) {  // parameters first, then padding
        REQUIRE(owners[static_cast<std::size_t>(g * kGranule + i)] == (i < elements ? 1 : 0));
      }
      used += elements;
    }
    REQUIRE(used == map.parameter_count());
  }
}

TEST_CASE("a map refuses impossible tensors") {
  ParamMap map;
  CHECK(map.add(param("a", {2, 3})).ok());
  CHECK_FALSE(map.add(param("a", {2, 3})).ok());
  CHECK_FALSE(map.add(param("b", {})).ok());
  CHECK_FALSE(map.add(param("c", {0})).ok());
  CHECK_FALSE(map.add(param("d", {-1})).ok());
  CHECK_FALSE(map.add(param("e", {std::int64_t{1} << 39, 8})).ok());
  CHECK(map.find("a")->elements == 6);
  CHECK(map.find("z") == nullptr);
}

TEST_CASE("hashes tell models and parameters apart, padding left out") {
  const auto make = [](const std::string& name) {
    ParamMap map;
    REQUIRE(map.add(param(name, {5000})).ok());
    map.seal();
    return map;
  };
  const auto map = make("a");
  CHECK(map.model_hash() == make("a").model_hash());
  CHECK(map.model_hash() != make("b").model_hash());
  std::vector<float> values(static_cast<std::size_t>(map.flat_size()));
  const auto zero = parameter_hash(map, values, {});
  values[5000] = 1;  // padding
  CHECK(parameter_hash(map, values, {}) == zero);
  values[4999] = 1;
  CHECK(parameter_hash(map, values, {}) != zero);
}

TEST_CASE("tied parameters are one place, counted once") {
  ParamMap map;
  REQUIRE(map.add(param("wte.weight", {100, 64})).ok());
  REQUIRE(map.add(param("fc.weight", {10, 10})).ok());
  REQUIRE(map.add(param("head.weight", {100, 64})).ok());
  REQUIRE(map.add(param("fc2.weight", {10, 10})).ok());
  REQUIRE(map.tie("head.weight", "wte.weight").ok());
  REQUIRE(map.tie("fc2.weight", "fc.weight").ok());
  CHECK_FALSE(map.tie("head.weight", "fc.weight").ok());
  CHECK_FALSE(map.tie("head.weight", "gone").ok());
  map.seal();
  CHECK(map.params()[2].offset == map.params()[0].offset);
  CHECK(map.params()[3].offset == map.params()[1].offset);
  CHECK(map.params()[0].offset != map.params()[1].offset);
  CHECK(map.first_tied(2) == 0);
  CHECK(map.first_tied(1) == 1);
  CHECK(map.parameter_count() == 6500);
  CHECK(map.granule_count() == 3);
  ParamMap apart;
  for (const auto* name : {"wte.weight", "head.weight"}) {
    REQUIRE(apart.add(param(name, {100, 64})).ok());
  }
  apart.seal();
  CHECK(apart.parameter_count() == 12800);
  CHECK(apart.model_hash() != map.model_hash());
}

}  // namespace
}  // namespace shoal
