#include "comm/round/codec_state.h"

#include <algorithm>
#include <cmath>

#include "ops/base/rng.h"
#include "tests/comm/swarm/swarm.h"
#include "tests/support/budget.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// Rounds whose codec has a state that all members share (PowerSGD's basis).

namespace shoal::comm::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SwarmOptions power_options(std::uint64_t seed, std::size_t peers) {
  SwarmOptions options;
  options.seed = seed;
  options.peers = peers;
  options.tensors = {{64, 64}, {5000}, {40, 300}, {7}};
  options.rounds = 6;
  options.codec = "powersgd";
  options.answer_codec = "powersgd";
  return options;
}

/// A matrix of rank two, the same each round, and what is 1-D.
void draw_low_rank(std::vector<float>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / 64;
    const std::size_t col = i % 64;
    x[i] = static_cast<float>(row % 5 * (col % 3) + row % 2 * (col % 7));
  }
}

}  // namespace

TEST_CASE("codec state: members of any number stay equal, and every round has its own",
          "[group_mean]") {
  for (const std::size_t peers : {1U, 2U, 3U, 5U, 8U}) {
    Swarm swarm(power_options(1, peers));
    CAPTURE(peers);
    const Bytes before = swarm.group(0).codec_state();
    REQUIRE_FALSE(before.empty());
    CHECK(swarm.run() == std::vector<std::string>{});
    for (std::size_t i = 0; i < peers; ++i) {
      REQUIRE(swarm.finished(i));
      CHECK(swarm.applied(i) == 6);
      CHECK(swarm.state(i) == swarm.state(0));
      const Bytes after = swarm.group(i).codec_state();
      CHECK(std::ranges::equal(after.span(), swarm.group(0).codec_state().span()));
      CHECK_FALSE(std::ranges::equal(after.span(), before.span()));
      const auto& view = swarm.group(i).view();
      for (const std::uint64_t bound : view.bounds) {  // no tensor is cut: granules 0, 1-2, 3-5, 6
        CHECK((bound == 0 || bound == 1 || bound == 3 || bound == 6 || bound == 7));
      }
    }
  }
}

TEST_CASE("codec state: what has a low rank is all there after two rounds", "[group_mean]") {
  auto options = power_options(2, 3);
  options.tensors = {{64, 64}};
  options.rounds = 8;
  options.distort = [](std::size_t, std::uint64_t, std::vector<float>& x) { draw_low_rank(x); };
  Swarm swarm(options);
  REQUIRE(swarm.run() == std::vector<std::string>{});
  // The first round brings what a random basis sees; the second its own matrix and what was owed;
  // from there each round's sum is right: products and owners' residuals round.
  const auto x = swarm.input(0, 1);
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double sum = 8.0 * static_cast<double>(x[i]);
    error += std::pow(static_cast<double>(swarm.state(0)[i]) - sum, 2);
    norm += sum * sum;
  }
  CHECK(std::sqrt(error / norm) < 1e-5);
}

TEST_CASE("codec state: losses, a death, a joiner and a restart leave members equal",
          "[group_mean]") {
  const std::uint64_t first = shoal::tests::test_seed(61);
  std::size_t joined = 0;
  std::size_t came_back = 0;
  for (std::uint64_t seed = first; seed < first + shoal::tests::long_count(12, 300); ++seed) {
    Rng rng(seed, 0);
    const std::size_t peers = 3 + rng.below(3);
    auto options = power_options(seed, peers);
    options.rounds = 20;
    options.wire = seed % 2 == 0;
    options.link.loss = 0.02 * rng.uniform();
    const bool returns = rng.below(2) == 0;
    options.wait_for_laggards = returns;
    Swarm swarm(options);
    const auto soon = [&] { return TimePoint{milliseconds(20 + rng.below(300))}; };
    const std::size_t victim = rng.below(peers);
    swarm.net().at(soon(), [&] { swarm.crash(victim); });
    if (returns) {
      swarm.net().at(TimePoint{seconds(3)}, [&] { swarm.join(victim); });
    }
    swarm.net().at(soon(), [&] { swarm.join(peers); });
    CAPTURE(seed, peers, victim);
    REQUIRE(swarm.run() == std::vector<std::string>{});
    const std::size_t other = victim == 0 ? 1 : 0;
    REQUIRE(swarm.finished(other));
    joined += swarm.finished(peers) ? 1 : 0;
    came_back += returns && swarm.finished(victim) ? 1 : 0;
  }
  CHECK(joined > 0);
  CHECK(came_back > 0);
}

TEST_CASE("codec state: a member whose host differs gets both states of the group",
          "[group_mean]") {
  auto options = power_options(3, 3);
  options.rounds = 25;
  Swarm swarm(options);
  swarm.net().at(TimePoint{milliseconds(400)}, [&] { swarm.corrupt(1); });
  CHECK(swarm.run() == std::vector<std::string>{});
  CHECK(swarm.group(1).stats().repairs == 1);
  CHECK(swarm.state(1) == swarm.state(0));
}

TEST_CASE("codec state: the last of two goes on alone with it", "[group_mean]") {
  Swarm swarm(power_options(4, 2));
  swarm.net().at(TimePoint{milliseconds(60)}, [&] { swarm.crash(1); });
  CHECK(swarm.run() == std::vector<std::string>{});
  CHECK(swarm.finished(0));
  CHECK(swarm.group(0).stats().forks == 1);
}

TEST_CASE("codec state: nothing but a whole state of the same codec is read", "[group_mean]") {
  Param p;
  p.name = "weights";
  p.shape = {70, 70};
  ParamMap map;
  REQUIRE(map.add(p).ok());
  map.seal();
  const auto codec = std::move(compress::make_codec("powersgd", {})).value();
  const CodecState first = codec->make_state(map, 1);
  const CodecState other = codec->make_state(map, 2);
  const Bytes saved = saved_state(first);
  const auto read = read_state(other, saved.span());
  REQUIRE(read.ok());
  CHECK(std::ranges::equal(saved_state(*read).span(), saved.span()));
  CHECK_FALSE(std::ranges::equal(saved_state(other).span(), saved.span()));  // not changed by it
  CHECK_FALSE(read_state(other, {}).ok());
  CHECK_FALSE(read_state(other, saved.span().first(saved.size() - 1)).ok());
  auto longer = std::vector(saved.span().begin(), saved.span().end());
  longer.push_back(std::byte{0});
  CHECK_FALSE(read_state(other, longer).ok());
  CHECK_FALSE(read_state(nullptr, saved.span()).ok());
  REQUIRE(read_state(nullptr, {}).ok());
  CHECK(*read_state(nullptr, {}) == nullptr);
  CHECK(saved_state(nullptr).empty());
}

TEST_CASE("codec state: an answer that counts nobody in, or by another codec, moves nothing",
          "[group_mean]") {
  Param p;
  p.name = "weights";
  p.shape = {64, 64};
  ParamMap map;
  REQUIRE(map.add(p).ok());
  map.seal();
  const auto codec = std::move(compress::make_codec("powersgd", {})).value();
  const CodecState state = codec->make_state(map, 1);
  const compress::CodecContext context{.run_seed = 1, .round = 1, .state = state.get()};
  ByteWriter out;
  const std::vector<float> x(4096, 1.0F);
  REQUIRE(compress::encode_granules(*codec, map, {0, 1}, x, context, out).ok());
  const Bytes encoded = out.take_bytes();
  Hash256 hash;
  hash.bytes[0] = std::byte{1};
  const std::vector<Hash256> answers = {hash, Hash256{}};
  const auto after = [&](std::uint8_t by, std::vector<std::uint16_t> contributors) {
    const Answer answer{0, {0, 1}, by, std::move(contributors), {{{0, 1}, 1.0}}, {}};
    const auto next = state_after(state, 14, context, answers, {{hash, {answer, encoded}}});
    REQUIRE(next.ok());
    return saved_state(*next);
  };
  const auto same = [&](const Bytes& saved) {
    return std::ranges::equal(saved.span(), saved_state(state).span());
  };
  CHECK_FALSE(same(after(14, {0})));
  CHECK(same(after(14, {})));
  CHECK(same(after(1, {0})));
  const Answer answer{0, {0, 1}, 14, {0}, {{{0, 1}, 1.0}}, {}};
  const Bytes cut = encoded.slice(0, encoded.size() - 1);
  CHECK_FALSE(state_after(state, 14, context, answers, {{hash, {answer, cut}}}).ok());
}

}  // namespace shoal::comm::tests
