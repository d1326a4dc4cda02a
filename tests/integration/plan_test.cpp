#include <nlohmann/json.hpp>

#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("plan: the memory of a peer as a table and for programs") {
  const Workshop here;
  REQUIRE(here.run({"plan", "run.toml", "--memory"}, "table") == 0);
  CHECK_THAT(here.text("table"), Contains("parameters") && Contains("activations") &&
                                     Contains("exchange") && Contains("in all"));
  REQUIRE(here.run({"plan", "run.toml", "--memory", "--json", "--set", "train.micro_batch=16"},
                   "json") == 0);
  const auto plan = nlohmann::json::parse(here.text("json"), nullptr, false);
  REQUIRE(plan.is_object());
  CHECK(plan["device"] == "cpu");
  CHECK(plan["micro_batch"] == 16);
  CHECK(plan["recompute"].empty());
  std::uint64_t sum = 0;
  for (const auto& row : plan["rows"]) {
    sum += row["bytes"].get<std::uint64_t>();
  }
  CHECK(plan["main_bytes"] == sum);
  CHECK(plan["device_bytes"] == 0);
}

TEST_CASE("plan: a placement is not pretended, and what fits nowhere is refused") {
  const Workshop here;
  CHECK(here.run({"plan", "run.toml"}, "placement") == 2);
  CHECK_THAT(here.text("placement"), Contains("does not place") && Contains("--memory"));
  for (const char* command : {"plan", "up"}) {
    std::vector<std::string> words = {
        command, "run.toml", "--set", "train.micro_batch=auto", "--set", "limits.memory=1MiB"};
    if (words.front() == "plan") {
      words.emplace_back("--memory");
    }
    INFO(command);
    CHECK(here.run(words, command) == 5);
    CHECK_THAT(here.text(command),
               Contains("train.micro_batch") && Contains("raise limits.memory"));
  }
}

}  // namespace shoal::node::tests
