#include "node/resume_round.h"

#include <set>

#include "tests/node/support/team.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSettings = {"compress.codec=int8", "train.momentum=0.9",
                                            "train.batch=16"};

/// A folder for each of three machines, with what a run left there when it was killed.
class Machines {
 public:
  Machines() {
    Team killed(3, kSettings, [&](std::size_t i, Team::Changes& changes) { fill(i, changes); });
    killed.run_until([&] { return killed.reports[2].size() >= 20; });
  }

  void fill(std::size_t i, Team::Changes& changes) const {
    changes.checkpoint_folder = folder(i).string();
    changes.settings.emplace_back("checkpoint.every=120ms");
    std::vector<std::string> skipped;
    changes.held = Checkpoints(folder(i), Team::id(i).short_id()).held(skipped);
  }
  [[nodiscard]] fs::path folder(std::size_t i) const { return root_.path() / std::to_string(i); }

 private:
  shoal::tests::TempFolder root_;
};

std::string undisturbed_hash() {
  Team team(3, kSettings);
  team.run();
  return team.summaries[0]->parameter_hash;
}

}  // namespace

TEST_CASE("resume: the newest round that all hold, or else more than half") {
  CHECK(agreed_round({{6, 4}, {6, 4}, {6, 4}}, 3) == 6);
  CHECK(agreed_round({{6, 4}, {4, 2}, {4, 2}}, 3) == 4);
  CHECK(agreed_round({{6, 4}, {6, 4}, {4, 2}}, 3) == 4);
  CHECK(agreed_round({{6, 4}, {6, 4}, {2, 1}}, 3) == 6);
  CHECK(agreed_round({{6, 4}, {6, 4}}, 3) == 6);
  CHECK(agreed_round({{6, 4}}, 1) == 6);
  CHECK_FALSE(agreed_round({{6, 4}}, 2).has_value());
  CHECK_FALSE(agreed_round({{6, 6}}, 2).has_value());
  CHECK_FALSE(agreed_round({{6, 4}, {2}}, 3).has_value());
  CHECK_FALSE(agreed_round({}, 3).has_value());
}

TEST_CASE("resume: machines that were killed end as if nothing had been") {
  const Machines machines;
  Team resumed(3, kSettings,
               [&](std::size_t i, Team::Changes& changes) { machines.fill(i, changes); });
  resumed.run();
  require_equal_replicas(resumed);
  CHECK(resumed.summaries[0]->first_round > 1);
  CHECK(resumed.summaries[0]->parameter_hash == undisturbed_hash());
}

TEST_CASE("resume: the newest round is passed over when one or two of three do not hold it") {
  const std::set<std::size_t> without =
      GENERATE(std::set<std::size_t>{1, 2}, std::set<std::size_t>{2});
  const Machines machines;
  std::vector<std::string> skipped;
  const auto held = Checkpoints(machines.folder(0), Team::id(0).short_id()).held(skipped);
  REQUIRE(held.size() == 2);
  for (const std::size_t i : without) {
    fs::remove_all(machines.folder(i) / std::to_string(held[0]));
  }
  Team resumed(3, kSettings,
               [&](std::size_t i, Team::Changes& changes) { machines.fill(i, changes); });
  resumed.run();
  require_equal_replicas(resumed);
  CHECK(resumed.summaries[0]->first_round == held[1] + 1);
  CHECK(resumed.summaries[0]->parameter_hash == undisturbed_hash());
}

TEST_CASE("resume: one that holds none of their rounds enters what the others go on with") {
  const Machines machines;
  std::vector<std::string> skipped;
  const auto held = Checkpoints(machines.folder(0), Team::id(0).short_id()).held(skipped);
  REQUIRE(held.size() == 2);
  Team resumed(3, kSettings, [&](std::size_t i, Team::Changes& changes) {
    machines.fill(i, changes);
    if (i == 2) {
      changes.held = {1};  // it died early
    }
  });
  resumed.run();
  require_equal_replicas(resumed);
  CHECK(resumed.summaries[0]->first_round == held[0] + 1);
  CHECK(resumed.summaries[2]->first_round > held[0]);
  CHECK(resumed.summaries[2]->samples == 4 * 512);
}

TEST_CASE("resume: nobody goes on when no round is held by more than half") {
  Team team(3, kSettings,
            [&](std::size_t i, Team::Changes& changes) { changes.held = {10 * (i + 1)}; });
  team.run();
  for (const auto& summary : team.summaries) {
    CHECK(summary->status == "failed");
    CHECK_THAT(summary->error, Catch::Matchers::Contains("without --resume"));
  }
}

}  // namespace shoal::node::tests
