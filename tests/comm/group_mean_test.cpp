#include "comm/group_mean.h"

#include <algorithm>
#include <cmath>

#include "tests/comm/swarm/swarm.h"
#include "tests/support/catch.h"

namespace shoal::comm::tests {
namespace {

/// Weighted mean of one round in double: what every codec must come near to.
std::vector<double> exact_mean(const Swarm& swarm, std::size_t peers, std::uint64_t round) {
  std::vector<double> mean(static_cast<std::size_t>(swarm.map().flat_size()), 0.0);
  for (std::size_t i = 0; i < peers; ++i) {
    const auto x = swarm.input(i, round);
    for (std::size_t e = 0; e < mean.size(); ++e) {
      mean[e] += static_cast<double>(x[e]);  // whole numbers: exact
    }
  }
  for (auto& m : mean) {
    m /= static_cast<double>(peers);
  }
  return mean;
}

}  // namespace

TEST_CASE("group_mean: ranks x elements x codec, nobody fails", "[group_mean]") {
  for (const std::size_t peers : {1U, 2U, 3U, 5U, 8U}) {
    for (const std::uint64_t elements :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{peers - 1}, std::uint64_t{1000},
          3 * kGranule + 100}) {
      for (const std::string codec : {"fp32", "bf16", "int8", "topk"}) {
        SwarmOptions options;
        options.peers = peers;
        options.elements = elements;
        options.rounds = 3;
        options.codec = codec;
        Swarm swarm(options);
        CAPTURE(peers, elements, codec);
        CHECK(swarm.run() == std::vector<std::string>{});
        for (std::size_t i = 0; i < peers; ++i) {
          REQUIRE(swarm.finished(i));
          CHECK(swarm.applied(i) == 3);
          CHECK(swarm.state(i) == swarm.state(0));
          CHECK(swarm.group(i).stats().left_out == 0);
        }
      }
    }
  }
}

TEST_CASE("group_mean: sparse codecs, with what of them lies in the carry", "[group_mean]") {
  for (const std::string codec : {"randomk", "dgc", "demo", "cocktail", "chain"}) {
    SwarmOptions options;
    options.peers = 3;
    options.elements = 3 * kGranule + 100;
    options.rounds = 6;
    options.codec = codec;
    Swarm swarm(options);
    swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
      SendFault f;
      const bool late = sent.from == swarm.id(1) && sent.message.header.round == 4;
      if (late && std::holds_alternative<Contribution>(sent.message.body)) {
        f.delay = std::chrono::seconds(5);  // one contribution waits in the carry
      }
      return f;
    };
    CAPTURE(codec);
    CHECK(swarm.run() == std::vector<std::string>{});
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(swarm.finished(i));
      CHECK(swarm.applied(i) >= 6);
      CHECK(swarm.state(i) == swarm.state(0));
      CHECK((swarm.group(i).stats().left_out > 0) == (i == 1));
      const auto velocity = swarm.group(i).carry().velocity();
      const auto moving =
          std::count_if(velocity.begin(), velocity.end(), [](float v) { return v != 0; });
      CHECK((moving > 3000) == (codec == "dgc"));
    }
  }
}

TEST_CASE("group_mean: fp32 gives the weighted mean", "[group_mean]") {
  SwarmOptions options;
  options.peers = 5;
  options.rounds = 1;
  Swarm swarm(options);
  REQUIRE(swarm.run() == std::vector<std::string>{});
  const auto mean = exact_mean(swarm, 5, 1);
  for (std::size_t e = 0; e < mean.size(); ++e) {
    // One division of an exact sum of small integers: half an ulp.
    REQUIRE(std::abs(static_cast<double>(swarm.state(0)[e]) - mean[e]) <=
            std::ldexp(std::abs(mean[e]), -24) + 1e-30);
  }
}

TEST_CASE("group_mean: what a codec loses comes in later rounds", "[group_mean]") {
  // Telescoping: the sum of all means plus carries and residuals is the sum of all inputs, so the
  // state's distance from the exact sum stays bounded by one round's loss instead of growing.
  SwarmOptions options;
  options.peers = 3;
  options.rounds = 30;
  options.codec = "int8";
  options.answer_codec = "int8";
  Swarm swarm(options);
  REQUIRE(swarm.run() == std::vector<std::string>{});
  std::vector<double> sum(swarm.state(0).size(), 0.0);
  for (std::uint64_t round = 1; round <= 30; ++round) {
    const auto mean = exact_mean(swarm, 3, round);
    for (std::size_t e = 0; e < sum.size(); ++e) {
      sum[e] += mean[e];
    }
  }
  for (std::size_t e = 0; e < sum.size(); ++e) {
    // Scales are max|x|/127 with |s| <= 2*8 + carry, |mean| <= 8 + residual: half a step each.
    REQUIRE(std::abs(static_cast<double>(swarm.state(0)[e]) - sum[e]) <=
            0.5 * 17.0 / 127 / 2 + 0.5 * 9.0 / 127 + 1e-3);
  }
}

TEST_CASE("group_mean: a replica that differs repairs itself", "[group_mean]") {
  for (const std::size_t victim : {0U, 1U, 2U}) {
    SwarmOptions options;
    options.peers = 3;
    options.rounds = 25;
    Swarm swarm(options);
    swarm.net().at(TimePoint{std::chrono::milliseconds(400)}, [&] { swarm.corrupt(victim); });
    CAPTURE(victim);
    CHECK(swarm.run() == std::vector<std::string>{});
    CHECK(swarm.group(victim).stats().repairs == 1);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(swarm.state(i) == swarm.state((victim + 1) % 3));
    }
  }
}

TEST_CASE("group_mean: what one owner refuses is in no part, and the run goes on", "[group_mean]") {
  for (const std::size_t peers : {2U, 3U, 5U}) {
    for (const std::size_t culprit : {std::size_t{0}, peers - 1}) {
      for (const float factor : {1e30F, 1e6F}) {
        SwarmOptions options;
        options.peers = peers;
        options.elements = peers * kGranule;
        options.rounds = 14;
        options.distort = [&](std::size_t peer, std::uint64_t round, std::vector<float>& x) {
          if (peer == culprit && round == 11) {
            x.back() = 8 * factor;  // in the last part only
          }
        };
        Swarm swarm(options);
        CAPTURE(peers, culprit, factor);
        CHECK(swarm.run() == std::vector<std::string>{});
        for (std::size_t i = 0; i < peers; ++i) {
          REQUIRE(swarm.finished(i));
          CHECK(swarm.group(i).stats().dropped == (i == culprit ? 1 : 0));
          CHECK(swarm.group(i).stats().refused.size() == 1);
          CHECK(swarm.state(i) == swarm.state(0));
        }
      }
    }
  }
}

TEST_CASE("group_mean: honest contributions that shrink and flare up all count", "[group_mean]") {
  SwarmOptions options;
  options.peers = 3;
  options.elements = 3 * kGranule;
  options.rounds = 60;
  // From 8,192 down to 1, with batches a thousand times their neighbours; all sums stay exact.
  options.distort = [](std::size_t peer, std::uint64_t round, std::vector<float>& x) {
    const int shift = 13 - static_cast<int>(std::min<std::uint64_t>(round / 3, 13));
    const bool flare = shift < 3 && round % 7 == 0 && round % 3 == peer;
    for (float& v : x) {
      v = std::ldexp(flare ? 1000 * v : v, shift);
    }
  };
  Swarm swarm(options);
  CHECK(swarm.run() == std::vector<std::string>{});
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(swarm.finished(i));
    CHECK(swarm.group(i).stats().refused.empty());
    CHECK(swarm.group(i).stats().left_out == 0);
  }
}

TEST_CASE("group_mean: what the last round left out comes in a round of its own", "[group_mean]") {
  enum class Late { kAllParts, kOnePart, kComputing };
  for (const Late late : {Late::kAllParts, Late::kOnePart, Late::kComputing}) {
    for (const std::size_t victim : {0U, 2U}) {
      SwarmOptions options;
      options.peers = 3;
      options.rounds = 5;
      Swarm swarm(options);
      const std::size_t owner = (victim + 1) % 3;
      bool paused = false;
      swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
        SendFault f;
        if (sent.from != swarm.id(victim)) {
          return f;
        }
        const std::uint64_t round = sent.message.header.round;
        if (late == Late::kComputing) {
          const bool held = std::holds_alternative<Hold>(sent.message.body);
          if (!paused && held && round + 1 == options.rounds) {
            paused = true;
            f.pause = std::chrono::seconds(3);  // the learnt deadline is 1.5 s by now
          }
        } else if (round == options.rounds &&
                   std::holds_alternative<Contribution>(sent.message.body) &&
                   (late == Late::kAllParts || sent.to == swarm.id(owner))) {
          f.delay = std::chrono::seconds(5);
        }
        return f;
      };
      CAPTURE(static_cast<int>(late), victim);
      CHECK(swarm.run() == std::vector<std::string>{});
      CHECK(swarm.group(victim).stats().left_out > 0);
      CHECK(swarm.balances({0, 1, 2}, options.rounds));
      for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(swarm.finished(i));
        CHECK(swarm.applied(i) > options.rounds);
        CHECK(swarm.applied(i) < options.rounds + limits::kFlushRounds);
        CHECK(swarm.state(i) == swarm.state(0));
        CHECK(swarm.group(i).stats().residuals_lost.empty());
      }
    }
  }
}

TEST_CASE("group_mean: who stays late for ever is not waited for, and that is said",
          "[group_mean]") {
  SwarmOptions options;
  options.peers = 3;
  options.rounds = 5;
  Swarm swarm(options);
  swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
    SendFault f;
    if (sent.message.header.round >= options.rounds && sent.from == swarm.id(2) &&
        std::holds_alternative<Contribution>(sent.message.body)) {
      f.drop = true;
    }
    return f;
  };
  const auto problems = swarm.run();
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.front(), Catch::Matchers::Contains("in no mean"));
  CHECK(swarm.applied(0) == options.rounds + limits::kFlushRounds);
  REQUIRE(swarm.group(2).stats().residuals_lost.size() == 1);
  CHECK_THAT(swarm.group(2).stats().residuals_lost.front(), Catch::Matchers::Contains("no mean"));
}

TEST_CASE("group_mean: atomic contributions are in all parts or in none", "[group_mean]") {
  for (const bool atomic : {false, true}) {
    for (const std::size_t victim : {0U, 1U, 2U}) {
      SwarmOptions options;
      options.peers = 3;
      options.rounds = 5;
      options.group.atomic = atomic;
      Swarm swarm(options);
      const std::size_t owner = (victim + 1) % 3;
      swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
        SendFault f;
        // Late for one owner only, and for good.
        f.drop = sent.from == swarm.id(victim) && sent.to == swarm.id(owner) &&
                 sent.message.header.round == 3 &&
                 std::holds_alternative<Contribution>(sent.message.body);
        return f;
      };
      CAPTURE(atomic, victim);
      CHECK(swarm.run() == std::vector<std::string>{});
      CHECK(swarm.balances({0, 1, 2}, options.rounds));
      CHECK(swarm.group(victim).stats().left_out == (atomic ? 3 : 1));
      for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(swarm.finished(i));
        CHECK(swarm.state(i) == swarm.state(0));
        CHECK(swarm.group(i).stats().refused.empty());
      }
    }
  }
}

TEST_CASE("group_mean: messages lost and out of order cost time only", "[group_mean]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SwarmOptions options;
    options.seed = seed;
    options.peers = 3;
    options.rounds = 5;
    options.link.loss = 0.05;
    options.link.reorder = 0.2;
    Swarm swarm(options);
    CAPTURE(seed);
    CHECK(swarm.run() == std::vector<std::string>{});
  }
}

TEST_CASE("group_mean: what is still on its way is not sent again", "[group_mean]") {
  // A round moves 2 (n-1)/n of the model over each link: 2.6 s here, far longer than it takes to
  // ask for what a broken connection lost.
  constexpr std::size_t kPeers = 4;
  constexpr std::uint64_t kRounds = 6;
  SwarmOptions options;
  options.peers = kPeers;
  options.elements = 32 * kGranule;
  options.rounds = kRounds;
  options.wire = false;
  Swarm swarm(options);
  for (std::size_t i = 0; i < kPeers; ++i) {
    swarm.net().set_rates(swarm.id(i), 300e3, 300e3);
  }
  std::uint64_t bytes = 0;
  swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
    bytes += sent.message.payload.size();
    return SendFault{};
  };
  CHECK(swarm.run() == std::vector<std::string>{});
  const std::uint64_t needed = kRounds * 2 * (kPeers - 1) * options.elements * sizeof(float);
  // Who asks in the 10 ms between leaving and arriving gets an answer twice: a few of 144 messages.
  CHECK(bytes >= needed);
  CHECK(bytes <= needed + needed / 8);
}

}  // namespace shoal::comm::tests
