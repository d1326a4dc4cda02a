#include "ops/find_entry.h"

#include "tests/support/catch.h"

namespace shoal::ops {
namespace {

struct Entry {
  std::string name;
};

TEST_CASE("an entry is found, or the nearest and all are named") {
  const std::vector<Entry> entries = {{"alpha"}, {"beta"}};
  CHECK(*find_entry(entries, &Entry::name, "thing", "beta") == &entries[1]);
  const auto wrong = find_entry(entries, &Entry::name, "thing", "betta");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message ==
        "there is no thing \"betta\"; did you mean \"beta\"? (there are: alpha, beta)");
}

}  // namespace
}  // namespace shoal::ops
