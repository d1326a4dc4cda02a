#include "node/peer.h"

#include "tests/node/support/team.h"

namespace shoal::node::tests {

using Catch::Matchers::Contains;

TEST_CASE("peer: one whose numbers are not finite is counted out, and the others go on") {
  Team team(3, {}, [](std::size_t i, Team::Changes& changes) { changes.poisoned = i == 1; });
  team.run();
  require_equal_replicas(team);
  CHECK(team.summaries[1]->counted_out > 0);
  CHECK(team.summaries[0]->counted_out == 0);
  CHECK(team.summaries[0]->test_accuracy > 0.9);
  for (const RoundReport& report : team.reports[0]) {
    const auto poisoned = report.record.view.index_of(team.id(1));
    REQUIRE(poisoned.has_value());
    CHECK_FALSE(report.record.included(*poisoned));
  }
}

TEST_CASE("peer: a run in which nobody has finite numbers ends, and says why") {
  const std::vector<std::string> long_run = {"train.lr=1e6", "train.epochs=20"};
  const std::vector<std::string> one_round = {"train.lr=1e6", "train.epochs=1", "train.batch=8",
                                              "sync.name=local", "sync.period=32"};
  for (const auto& settings : {long_run, one_round}) {
    Team team(2, settings);
    team.run();
    for (const auto& summary : team.summaries) {
      CHECK(summary->status == "failed");
      CHECK(summary->exit_code == 1);
      CHECK_THAT(summary->error, Contains("diverged") && Contains("train.lr"));
    }
  }
}

TEST_CASE("peer: a model that could not be written fails its peer, and only that") {
  Team team(3, {}, [](std::size_t i, Team::Changes& changes) {
    changes.model_file = i == 1 ? "/dev/null/model.safetensors" : "";
  });
  team.run();
  CHECK(team.summaries[0]->status == "done");
  CHECK(team.summaries[1]->status == "failed");
  CHECK(team.summaries[1]->exit_code == 3);
  CHECK_THAT(team.summaries[1]->error, Contains("/dev/null") && Contains("--resume"));
  CHECK(team.summaries[1]->parameter_hash == team.summaries[0]->parameter_hash);
}

TEST_CASE("peer: a late one enters a run under way and ends with the same parameters") {
  for (const char* strategy : {"allreduce", "local"}) {
    INFO(strategy);
    std::vector<std::string> settings = {"sync.name=" + std::string(strategy), "train.epochs=20",
                                         "train.batch=16", "train.momentum=0.9"};
    if (settings[0] == "sync.name=local") {
      settings.emplace_back("sync.period=2");
    }
    Team team(4, settings, {}, 1);
    team.run_until([&] { return team.reports[0].size() >= 5; });
    team.join(3);
    team.run();
    require_equal_replicas(team);
    CHECK(team.summaries[3]->first_round > 5);
    CHECK(team.summaries[3]->rounds == team.summaries[0]->rounds);
    CHECK(team.summaries[0]->samples == 20 * 512);
    CHECK(team.summaries[3]->samples == 20 * 512);
  }
}

TEST_CASE("peer: asked to stop, all end with the same round") {
  Team team(3, {"train.epochs=1000"});
  team.run_until([&] { return team.reports[0].size() >= 4; });
  for (std::size_t i = 0; i < 3; ++i) {
    team.host(i).request_stop();
  }
  team.run();
  for (const auto& summary : team.summaries) {
    CHECK(summary->status == "stopped");
    CHECK(summary->rounds == team.summaries[0]->rounds);
    CHECK(summary->parameter_hash == team.summaries[0]->parameter_hash);
  }
}

TEST_CASE("peer: one that leaves is not missed") {
  Team team(3, {"train.epochs=20"});
  team.run_until([&] { return team.reports[0].size() >= 4; });
  team.host(1).request_leave();
  team.run();
  CHECK(team.summaries[1]->status == "left");
  CHECK(team.summaries[1]->rounds < team.summaries[0]->rounds);
  for (const std::size_t i : {0U, 2U}) {
    CHECK(team.summaries[i]->status == "done");
    CHECK(team.summaries[i]->samples == 20 * 512);
    CHECK(team.summaries[i]->parameter_hash == team.summaries[0]->parameter_hash);
  }
}

TEST_CASE("peer: a run ends when its target is reached, and says when") {
  Team team(2, {"train.epochs=1000", "train.target_accuracy=0.8"});
  team.run();
  require_equal_replicas(team);
  CHECK(team.summaries[0]->test_accuracy >= 0.8);
  CHECK(team.summaries[0]->samples < 1000 * 512);
  const bool first = team.summaries[0]->target_reached_s.has_value();
  const bool second = team.summaries[1]->target_reached_s.has_value();
  CHECK(first != second);  // whoever leads judges
}

TEST_CASE("peer: steps_max bounds a run") {
  Team team(2, {"train.epochs=1000", "train.steps_max=7"});
  team.run();
  require_equal_replicas(team);
  CHECK(team.summaries[0]->steps == 7);
}

}  // namespace shoal::node::tests
