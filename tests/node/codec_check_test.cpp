#include "node/codec_check.h"

#include "tests/node/support/team.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using Catch::Matchers::Contains;

std::string refusal(const std::vector<std::string>& settings) {
  const auto parts = make_peer_parts(Team::config(2, 0, settings), Log());
  return parts.ok() ? "" : parts.error().message;
}

const std::vector<std::string> kPower = {"compress.codec=powersgd", "compress.rank=2",
                                         "model.mlp.layers=[16, 300, 4]", "train.batch=16",
                                         "train.epochs=6"};

std::size_t rounds_of(const Team& team, std::size_t i) { return team.reports[i].size(); }

}  // namespace

TEST_CASE("codecs: one with a state that all share is what is sent and what is answered") {
  CHECK(refusal({"compress.codec=powersgd"}) == "");
  CHECK(refusal({"compress.codec=powersgd", "compress.rank=7"}) == "");
  CHECK(refusal({"compress.codec=powersgd", "compress.answer=powersgd"}) == "");
  CHECK(refusal({"compress.codec=int8", "compress.answer=fp32"}) == "");
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {"compress.codec=powersgd", "compress.answer=fp32"},
           {"compress.codec=int8", "compress.answer=powersgd"},
           {"compress.codec=powersgd", "compress.answer=powersgd", "compress.answer_rank=2"}}) {
    CAPTURE(settings);
    CHECK_THAT(refusal(settings), Contains("compress.codec") && Contains("compress.answer") &&
                                      Contains("powersgd") && Contains("rank = "));
  }
}

TEST_CASE("codecs: peers that share a state train as one, also with one that comes later") {
  Team team(4, kPower, {}, 1);
  team.run_until([&] { return rounds_of(team, 0) >= 3; });
  team.join(3);
  team.run();
  require_equal_replicas(team);
  CHECK(team.reports[0].back().record.view.size() == 4);
  const Bytes state = team.host(0).peer().group().codec_state();
  CHECK(state.size() > 2 * 16 * sizeof(float));
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(hash_of(team.host(i).peer().group().codec_state().span()) == hash_of(state.span()));
  }
}

TEST_CASE("codecs: who pauses comes back to the state of the others") {
  auto settings = kPower;
  settings.emplace_back("train.epochs=60");
  Team team(3, settings);
  team.run_until([&] { return rounds_of(team, 0) >= 5; });
  team.host(1).set_paused(true);
  team.run_until([&] { return team.host(1).peer().status().state == "paused"; });
  const std::size_t others = rounds_of(team, 0);
  team.run_until([&] { return rounds_of(team, 0) >= others + 20; });
  team.host(1).set_paused(false);
  team.run();
  require_equal_replicas(team);
  CHECK(team.reports[0].back().record.view.size() == 3);
}

}  // namespace shoal::node::tests
