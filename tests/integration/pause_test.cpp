#include <unistd.h>

#include <fstream>

#include "node/files.h"
#include "tests/integration/program.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

/// Rounds that the peers of a run have written down so far.
std::uint64_t rounds_told(const Workshop& shop) {
  std::uint64_t rounds = 0;
  std::error_code error;
  for (const auto& e : std::filesystem::directory_iterator(shop.path() / "runs" / "run", error)) {
    std::ifstream in(e.path() / "metrics.jsonl");
    for (std::string text; std::getline(in, text);) {
      const auto line = nlohmann::json::parse(text, nullptr, false);
      if (line.is_object() && line["event"] == "rounds") {
        rounds = std::max(rounds, line["round"].get<std::uint64_t>());
      }
    }
  }
  return rounds;
}

}  // namespace

TEST_CASE("pause: the peers of a run stop, and go on to its end after resume", "[zmq]") {
  const Workshop shop;
  Child up = shop.start(shop.up({"train.epochs=20"}), "said");
  wait_for([&] { return rounds_told(shop) > 0; });
  REQUIRE(shop.run({"pause", "run"}, "paused") == 0);
  CHECK_THAT(shop.text("paused"), Contains("shoal resume"));
  // All have stopped once no round is told for two seconds, twenty times what lies between lines.
  std::uint64_t before = 0;
  wait_for([&] {
    before = rounds_told(shop);
    ::usleep(2'000'000);
    return rounds_told(shop) == before;
  });
  REQUIRE_FALSE(up.ended().has_value());
  REQUIRE(shop.run({"resume"}, "resumed") == 0);
  REQUIRE(end_of(up) == 0);
  const auto summary = shop.summary("run");
  CHECK(summary["status"] == "done");
  CHECK(summary["samples"] == 20 * 8192);
  CHECK(summary["rounds"] > before);
}

TEST_CASE("pause: what is no run is said", "[zmq]") {
  const Workshop shop;
  CHECK(shop.run({"pause", "nothing"}, "none") == 3);
  CHECK_THAT(shop.text("none"), Contains("nothing") && Contains("--run-dir"));
  CHECK(shop.run({"resume"}, "empty") == 3);
}

}  // namespace shoal::node::tests
