#include "node/data/partition.h"

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using node::make_partition;
using node::Partition;
using node::partition_hash;

Result<Partition> cut(const std::string& name, std::uint32_t parts, std::size_t samples,
                      std::uint64_t seed) {
  const std::vector<std::int32_t> labels(samples, 0);
  std::vector<std::uint32_t> holders(samples);  // 150 of them, of unlike sizes
  for (std::size_t i = 0; i < samples; ++i) {
    holders[i] = static_cast<std::uint32_t>(i < 300 ? i % 150 : i % 7);
  }
  for (const auto& entry : node::partition_registry()) {
    if (entry.name == name) {
      return make_partition(name, Options::defaults(entry.options),
                            {seed, parts, labels, 1, holders});
    }
  }
  return make_partition(name, {}, {seed, parts, labels, 1, holders});
}

TEST_CASE("every partition is disjoint, whole, without empty parts, and repeats by seed") {
  const std::uint64_t seed = test_seed(11);
  for (const auto& entry : node::partition_registry()) {
    for (const std::uint32_t parts : {1, 2, 3, 7, 100}) {
      INFO(entry.name << " into " << parts);
      const auto partition = cut(entry.name, parts, 1000, seed);
      REQUIRE(partition.ok());
      REQUIRE(partition->size() == parts);
      std::vector<int> held(1000, 0);
      for (const auto& part : *partition) {
        REQUIRE_FALSE(part.empty());
        REQUIRE(std::is_sorted(part.begin(), part.end()));
        for (const auto index : part) {
          ++held.at(index);
        }
      }
      REQUIRE(std::all_of(held.begin(), held.end(), [](int n) { return n == 1; }));
      REQUIRE(partition_hash(*partition) == partition_hash(*cut(entry.name, parts, 1000, seed)));
      if (parts > 1) {
        const auto other = cut(entry.name, parts, 1000, seed + 1);
        REQUIRE(partition_hash(*partition) != partition_hash(*other));
      }
    }
  }
}

TEST_CASE("iid parts differ in size by at most one") {
  const auto partition = cut("iid", 7, 1000, 1);
  REQUIRE(partition.ok());
  for (const auto& part : *partition) {
    CHECK((part.size() == 142 || part.size() == 143));
  }
}

TEST_CASE("natural parts are whole holders") {
  const std::vector<std::int32_t> labels(10, 0);
  const std::vector<std::uint32_t> holders = {0, 0, 1, 2, 2, 2, 1, 3, 3, 0};
  const auto parts = make_partition("natural", {}, {7, 2, labels, 1, holders});
  REQUIRE(parts.ok());
  std::vector<std::size_t> part_of(10);
  for (std::size_t p = 0; p < 2; ++p) {
    std::vector<std::uint32_t> seen;
    for (const std::uint32_t i : (*parts)[p]) {
      part_of[i] = p;
      seen.push_back(holders[i]);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::unique(seen.begin(), seen.end()) - seen.begin() == 2);
  }
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t k = 0; k < 10; ++k) {
      CHECK((holders[i] != holders[k] || part_of[i] == part_of[k]));
    }
  }
  const auto many = make_partition("natural", {}, {7, 5, labels, 1, holders});
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().message.find("the samples are from 4") != std::string::npos);
  const auto nobody = make_partition("natural", {}, {7, 2, labels, 1, {}});
  REQUIRE_FALSE(nobody.ok());
  CHECK(nobody.error().code == Code::kConfig);
}

TEST_CASE("a partition that can't be is refused in words") {
  const auto many = cut("iid", 11, 10, 1);
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().code == Code::kConfig);
  CHECK(many.error().message.find("data.parts is 11") != std::string::npos);
  CHECK_FALSE(cut("iid", 0, 10, 1).ok());
  const auto unknown = cut("idd", 2, 10, 1);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("did you mean \"iid\"?") != std::string::npos);
}

}  // namespace
}  // namespace shoal::tests
