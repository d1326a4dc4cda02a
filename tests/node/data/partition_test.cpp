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
  for (const auto& entry : node::partition_registry()) {
    if (entry.name == name) {
      return make_partition(name, Options::defaults(entry.options), {seed, parts, labels, 1});
    }
  }
  return make_partition(name, {}, {seed, parts, labels, 1});
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
