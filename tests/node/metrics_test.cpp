#include "node/metrics.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/node/support/team.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {

TEST_CASE("metrics: a round's time is told apart, and adds up to no more than passed") {
  const shoal::tests::TempFolder folder;
  const std::string file = folder / "metrics.jsonl";
  {
    Team team(2, {"limits.cores=0.1", "output.metrics_every=20ms"},
              [&](std::size_t i, Team::Changes& changes) {
                changes.metrics_file = i == 0 ? file : "/dev/null";
              });
    team.run();
    for (const RoundReport& r : team.reports[0]) {
      CHECK(r.exchange > Duration{0});
    }
  }
  std::ifstream in(file);
  double rest = 0;
  double before = 0;
  std::size_t lines = 0;
  for (std::string text; std::getline(in, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line["event"] != "rounds") {
      continue;
    }
    ++lines;
    double sum = 0;
    for (const char* key : {"compute_s", "rest_s", "exchange_s", "apply_s"}) {
      INFO(key);
      REQUIRE(line.contains(key));
      CHECK(line[key] >= 0);
      sum += line[key].get<double>();
    }
    CHECK(line["codec_s"].get<double>() + line["wait_s"].get<double>() ==
          Approx(line["exchange_s"].get<double>()));
    // A round that began before the line is on it whole: one exchange and one rest more.
    CHECK(sum <= line["t"].get<double>() - before + 1);
    before = line["t"];
    rest += line["rest_s"].get<double>();
  }
  CHECK(lines > 3);
  CHECK(rest > 0);
}

}  // namespace shoal::node::tests
