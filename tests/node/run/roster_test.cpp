#include "node/run/roster.h"

#include "tests/support/catch.h"

namespace shoal::node::tests {

using Catch::Matchers::Contains;

TEST_CASE("roster: key@host:port, and errors that name the entry") {
  const std::string key(64, 'a');
  const auto cards = parse_roster({key + "@host.example:4000", key + "@[::1]:5"});
  REQUIRE(cards.ok());
  CHECK(cards->at(0).id.hex() == key);
  CHECK(cards->at(0).addresses == std::vector<std::string>{"host.example:4000"});
  CHECK(cards->at(1).addresses == std::vector<std::string>{"[::1]:5"});
  for (const std::string& entry :
       {std::string("host:1"), key.substr(1) + "@host:1", key + "@", key + "@host:99999"}) {
    INFO(entry);
    const auto wrong = parse_roster({entry});
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().code == Code::kConfig);
    CHECK_THAT(wrong.error().message, Contains(entry));
  }
}

TEST_CASE("roster: a run is known by its name") {
  const auto run = [](const char* name, const char* seed) {
    const auto config =
        load_config(full_schema(),
                    {std::nullopt, {}, {std::string("name=") + name, std::string("seed=") + seed}});
    REQUIRE(config.ok());
    return run_of(*config);
  };
  CHECK(run("a", "1") == run("a", "2"));  // their keys differ, and they are to hear of it
  CHECK(run("a", "1") != run("b", "1"));
}

}  // namespace shoal::node::tests
