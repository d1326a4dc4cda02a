#include <array>

#include "tests/comm/swarm/swarm.h"
#include "tests/support/budget.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::comm::tests {
namespace {

enum class Fault { kKill, kKillReceiver, kRestart, kPause, kShortPause, kDelay, kJoin };

constexpr std::array<Fault, 7> kFaults = {Fault::kKill,  Fault::kKillReceiver, Fault::kRestart,
                                          Fault::kPause, Fault::kShortPause,   Fault::kDelay,
                                          Fault::kJoin};

const char* fault_name(Fault fault) {
  static constexpr std::array<const char*, 7> kNames = {
      "kill", "kill receiver", "restart", "pause", "short pause", "delay", "join"};
  return kNames[static_cast<std::size_t>(fault)];
}

bool returns(Fault fault) {
  return fault == Fault::kRestart || fault == Fault::kPause || fault == Fault::kJoin;
}

/// Does the fault when the message with this index is sent.
SendFault strike(Swarm& swarm, Fault fault, std::size_t peers, const MemoryNetwork::Sent& sent) {
  SendFault f;
  const std::size_t from = swarm.index(sent.from);
  const PeerId to = sent.to;
  const TimePoint now = swarm.net().now();
  switch (fault) {
    case Fault::kKill:
      f.crash_before = true;
      break;
    case Fault::kKillReceiver:
      swarm.net().at(now, [&swarm, to] { swarm.net().crash(to); });
      break;
    case Fault::kRestart:
      f.crash_after = true;
      swarm.net().at(now + std::chrono::seconds(2), [&swarm, from] { swarm.join(from); });
      break;
    case Fault::kPause:
      f.pause = std::chrono::seconds(9);
      break;
    case Fault::kShortPause:
      f.pause = std::chrono::milliseconds(2500);
      break;
    case Fault::kDelay:
      f.delay = std::chrono::milliseconds(3500);
      break;
    case Fault::kJoin:
      swarm.net().at(now, [&swarm, peers] { swarm.join(peers); });
      break;
  }
  return f;
}

constexpr std::uint64_t kRounds = 3;

/// What all scenarios of a search have in common.
struct Setting {
  bool atomic = false;
  /// The last peer's contributions to the last round are late, and faults come from then on: at the
  /// end of the run, while what was left out is brought in.
  bool late = false;
  /// A codec with a state that all share, handed to joiners with the rest.
  bool codec_state = false;
};

SwarmOptions options_of(std::uint64_t seed, std::size_t peers, const Setting& setting) {
  SwarmOptions options;
  options.seed = seed;
  options.peers = peers;
  options.elements = 2 * kGranule + 100;
  options.rounds = kRounds;
  options.wire = seed % 8 == 0;
  options.group.atomic = setting.atomic;
  if (setting.codec_state) {
    options.tensors = {{64, 64}, {32, 128}, {100}};
    options.codec = "powersgd";
    options.answer_codec = "powersgd";
  }
  return options;
}

SendFault lateness(Swarm& swarm, std::size_t peers, const Setting& setting,
                   const MemoryNetwork::Sent& sent) {
  SendFault f;
  if (setting.late && swarm.index(sent.from) + 1 == peers && sent.message.header.round == kRounds &&
      std::holds_alternative<Contribution>(sent.message.body)) {
    f.delay = std::chrono::seconds(4);
  }
  return f;
}

/// Indices of round messages: heartbeats and hellos decide nothing.
std::vector<std::uint64_t> message_indices(std::uint64_t seed, std::size_t peers,
                                           const Setting& setting) {
  std::vector<std::uint64_t> indices;
  Swarm swarm(options_of(seed, peers, setting));
  swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
    if (sent.message.header.round > (setting.late ? kRounds - 1 : 0)) {
      indices.push_back(sent.index);
    }
    return lateness(swarm, peers, setting, sent);
  };
  REQUIRE(swarm.run() == std::vector<std::string>{});
  return indices;
}

std::vector<std::string> run_case(std::uint64_t seed, std::size_t peers, Fault fault,
                                  std::uint64_t index, const Setting& setting) {
  auto options = options_of(seed, peers, setting);
  // Who is silent past a ballot's grace leaves the view, and when the run ends there is none to
  // come back to: that is said.
  const bool silent = fault == Fault::kShortPause || fault == Fault::kDelay;
  options.wait_for_laggards = returns(fault) || (setting.late && silent);
  Swarm swarm(options);
  bool struck = false;
  swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
    if (struck || sent.index < index || sent.message.header.round == 0) {
      return lateness(swarm, peers, setting, sent);
    }
    struck = true;
    return strike(swarm, fault, peers, sent);
  };
  return swarm.run();
}

void search(const Setting& setting, std::chrono::seconds slice) {
  shoal::tests::Budget budget(slice);
  const std::uint64_t first = shoal::tests::test_seed(1);
  std::uint64_t scenarios = 0;
  const std::size_t seeds = shoal::tests::long_count(1, 20);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    for (const std::size_t peers : {2U, 3U, 5U}) {
      const auto indices = message_indices(seed, peers, setting);
      for (const Fault fault : kFaults) {
        for (const auto index : indices) {
          if (!budget.left()) {
            break;
          }
          CAPTURE(seed, peers, fault_name(fault), index, setting.atomic, setting.late,
                  setting.codec_state);
          ++scenarios;
          REQUIRE(run_case(seed, peers, fault, index, setting) == std::vector<std::string>{});
        }
      }
    }
    WARN("seed " << seed << ": " << scenarios << " scenarios so far");
  }
  CHECK(scenarios > 0);
}

}  // namespace

TEST_CASE("fault search: every fault at every message index", "[group_mean][long]") {
  search({}, std::chrono::seconds(35));
}

TEST_CASE("fault search: the same where contributions are atomic", "[group_mean][long]") {
  search({true, false, false}, std::chrono::seconds(15));
}

TEST_CASE("fault search: at the end, while a late contribution is brought in",
          "[group_mean][long]") {
  search({false, true, false}, std::chrono::seconds(15));
}

TEST_CASE("fault search: the same with a codec that has a state", "[group_mean][long]") {
  search({false, false, true}, std::chrono::seconds(15));
}

TEST_CASE("fault search: a death costs the survivors at most one round", "[group_mean]") {
  // Undisturbed, a round takes two latencies and the slowest computation. The survivors notice the
  // death within limits::kSuspectClosed and then need one recovery: far below two deadlines.
  for (const std::size_t peers : {3U, 5U}) {
    const auto indices = message_indices(1, peers, {});
    for (std::size_t k = 0; k < indices.size(); k += 7) {
      Swarm swarm(options_of(1, peers, {}));
      bool struck = false;
      swarm.net().on_send = [&](const MemoryNetwork::Sent& sent) {
        SendFault f;
        f.crash_before = !struck && sent.index == indices[k];
        struck = struck || f.crash_before;
        return f;
      };
      CAPTURE(peers, indices[k]);
      REQUIRE(swarm.run() == std::vector<std::string>{});
      CHECK(swarm.ended_at() < TimePoint{std::chrono::seconds(25)});
    }
  }
}

}  // namespace shoal::comm::tests
