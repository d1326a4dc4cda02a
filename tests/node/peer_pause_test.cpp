#include "tests/node/support/team.h"

namespace shoal::node::tests {
namespace {

std::size_t rounds_of(const Team& team, std::size_t i) { return team.reports[i].size(); }

}  // namespace

TEST_CASE("pause: one peer stays away, comes back, and ends with the others") {
  for (const char* strategy : {"allreduce", "local"}) {
    INFO(strategy);
    Team team(3, {"sync.name=" + std::string(strategy), "sync.local.period=2", "train.batch=16",
                  "train.epochs=60", "compress.codec=int8"});
    team.run_until([&] { return rounds_of(team, 0) >= 5; });
    team.host(1).set_paused(true);
    team.run_until([&] { return team.host(1).peer().status().state == "paused"; });
    const std::size_t before = rounds_of(team, 1);
    const std::size_t others = rounds_of(team, 0);
    team.run_until([&] { return rounds_of(team, 0) >= others + 40; });
    CHECK(rounds_of(team, 1) == before);
    CHECK(team.reports[0].back().record.view.size() == 2);
    team.host(1).set_paused(false);
    team.run();
    require_equal_replicas(team);
    CHECK(team.reports[0].back().record.view.size() == 3);
    CHECK(team.summaries[0]->samples == 60 * 512);
    CHECK(team.summaries[1]->samples == 60 * 512);
  }
}

TEST_CASE("pause: all of a run pause one after the other, and go on") {
  Team team(4, {"train.batch=16", "train.epochs=40"});
  team.run_until([&] { return rounds_of(team, 0) >= 5; });
  for (std::size_t i = 0; i < 4; ++i) {
    team.host(i).set_paused(true);
  }
  const auto paused = [&](std::size_t i) { return team.host(i).peer().status().state == "paused"; };
  team.run_until([&] { return paused(0) && paused(1) && paused(2) && paused(3); });
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < 4; ++i) {
    steps.push_back(team.state(i).progress.steps);
  }
  std::size_t ticks = 0;
  team.run_until([&] { return ++ticks > 2000; });
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(team.state(i).progress.steps == steps[i]);
  }
  // The last member goes on last: alone it would be through before the others have knocked.
  const auto last = [&](std::size_t i) { return team.host(i).peer().worker().standing_still(); };
  std::size_t keeper = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    keeper = last(i) ? i : keeper;
    team.host(i).set_paused(last(i));
  }
  REQUIRE(last(keeper));
  team.run_until([&] { return !last(keeper); });  // it has let somebody in
  team.host(keeper).set_paused(false);
  team.run();
  require_equal_replicas(team);
  CHECK(team.summaries[0]->samples == 40 * 512);
  CHECK(team.summaries[0]->test_accuracy > 0.9);
}

TEST_CASE("pause: the last member lets in who may work while it may not") {
  Team team(2, {"train.batch=16", "train.epochs=40", "train.momentum=0.9"});
  team.run_until([&] { return rounds_of(team, 0) >= 5; });
  team.host(0).set_paused(true);
  team.host(1).set_paused(true);
  const auto state = [&](std::size_t i) { return team.host(i).peer().status().state; };
  team.run_until([&] { return state(0) == "paused" && state(1) == "paused"; });
  const std::size_t gone = team.host(0).peer().group().view().size() == 1 ? 1 : 0;
  team.host(gone).set_paused(false);
  team.run_until([&] { return team.summaries[gone].has_value(); });
  CHECK(team.summaries[gone]->status == "done");
  CHECK(team.summaries[gone]->samples == 40 * 512);
  CHECK(state(1 - gone) == "paused");  // it left as soon as there was another
  team.host(1 - gone).set_paused(false);
  team.run();
  CHECK(team.summaries[1 - gone]->status == "left");  // the run had ended
}

TEST_CASE("pause: a peer that is asked to stop while it pauses leaves") {
  Team team(3, {"train.batch=16", "train.epochs=60"});
  team.run_until([&] { return rounds_of(team, 0) >= 5; });
  team.host(2).set_paused(true);
  team.run_until([&] { return team.host(2).peer().status().state == "paused"; });
  team.host(2).request_stop();
  team.run();
  CHECK(team.summaries[2]->status == "left");
  CHECK(team.summaries[0]->status == "done");
}

}  // namespace shoal::node::tests
