#include "node/sync/strategy.h"

#include <cmath>

#include "tests/node/support/team.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

/// |a - b| / |b| in double precision.
double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / norm);
}

/// Loss of a whole round: the members' sums put together.
double round_loss(const Team& team, std::size_t round) {
  ops::BatchResult sum;
  for (const auto& reports : team.reports) {
    sum += reports[round].result;
  }
  return sum.mean_loss();
}

}  // namespace

TEST_CASE("strategies: every one trains 1, 2, 3 and 5 peers to equal parameters") {
  for (const StrategyEntry& entry : strategy_registry()) {
    for (const std::size_t peers : {1U, 2U, 3U, 5U}) {
      for (const char* codec : {"fp32", "int8"}) {
        INFO(entry.name << ", " << peers << " peers, " << codec);
        std::vector<std::string> settings = {"sync.name=" + entry.name,
                                             "compress.codec=" + std::string(codec)};
        if (entry.name == "local") {
          settings.insert(settings.end(), {"sync.period=4", "train.batch=16"});
        }
        Team team(peers, settings);
        team.run();
        require_equal_replicas(team);
        CHECK(team.summaries[0]->samples == 4 * 512);
        CHECK(team.summaries[0]->test_accuracy > 0.9);
      }
    }
  }
}

TEST_CASE("strategies: samples that the last round left out are in the parameters at the end") {
  for (const char* name : {"allreduce", "local"}) {
    for (const char* bound : {"train.epochs=4", "train.steps_max=24"}) {
      INFO(name << ", " << bound);
      std::vector<std::string> settings = {"sync.name=" + std::string(name), bound,
                                           "run.reproducible=false", "train.batch=64"};
      if (settings[0] == "sync.name=local") {
        settings.insert(settings.end(), {"sync.period=2", "train.batch=16"});
      }
      Team punctual(3, settings);
      punctual.run();
      const std::uint64_t rounds = punctual.summaries[0]->rounds;
      Team team(3, settings);
      team.network().on_send = [&](const comm::MemoryNetwork::Sent& sent) {
        comm::SendFault fault;
        if (sent.from == Team::id(2) && sent.message.header.round == rounds &&
            std::holds_alternative<comm::Contribution>(sent.message.body)) {
          fault.delay = std::chrono::seconds(5);  // the learnt deadline is 1.5 s by then
        }
        return fault;
      };
      team.run();
      require_equal_replicas(team);
      CHECK(team.summaries[2]->left_out > 0);
      for (const auto& summary : team.summaries) {
        CHECK(summary->status == "done");
        CHECK(summary->rounds > rounds);
        CHECK(summary->samples == punctual.summaries[0]->samples);
        CHECK(summary->steps == punctual.summaries[0]->steps);
        CHECK(summary->residuals_lost.empty());
      }
    }
  }
}

TEST_CASE("allreduce: four peers are one peer with the whole batch") {
  const std::vector<std::string> settings = {"train.lr=0.01", "train.epochs=13"};
  Team four(4, settings);
  Team one(1, settings);
  const auto after = [](std::size_t rounds) {
    return [rounds](const Team& team) {
      return std::all_of(team.reports.begin(), team.reports.end(),
                         [rounds](const auto& r) { return r.size() >= rounds; });
    };
  };
  four.run_until([&] { return after(1)(four); });
  one.run_until([&] { return after(1)(one); });
  // Equal but for the order of float sums: a part in 2^24 for each of the log2(64) additions.
  CHECK(distance(four.state(0).parameters, one.state(0).parameters) <= 1e-6);
  four.run_until([&] { return after(100)(four); });
  one.run_until([&] { return after(100)(one); });
  for (std::size_t round = 0; round < 100; ++round) {
    CHECK(std::abs(round_loss(four, round) - round_loss(one, round)) <= 1e-4);
  }
}

TEST_CASE("local: one step, inner SGD and a plain outer step are allreduce") {
  Team a(4, {"sync.name=local", "sync.period=1", "sync.outer_lr=1", "sync.outer_momentum=0",
             "train.batch=16"});  // a peer's
  Team b(4, {"train.batch=64"});  // of all four
  a.run();
  b.run();
  // Each of the 16 rounds rounds theta = fl(phi - fl(lr g)) and D = fl(phi - theta): 2^-24 of the
  // parameters a rounding, twice a round, which the gradients of 16 rounds may double.
  CHECK(a.summaries[0]->rounds == b.summaries[0]->rounds);
  CHECK(distance(a.state(0).parameters, b.state(0).parameters) <=
        16 * 2 * 2 * std::ldexp(1.0, -24));
}

TEST_CASE("local: every optimizer moves the common parameters, equal on all peers") {
  for (const ops::OptimizerEntry& entry : ops::optimizer_registry()) {
    for (const std::size_t peers : {1U, 3U}) {
      INFO(entry.name << ", " << peers << " peers");
      // Norm-scaled and adaptive rules step by the rate itself, not by the change's size.
      const bool sgd = entry.name == "sgd";
      Team team(peers,
                {"sync.name=local", "sync.period=4", "train.batch=16", "compress.codec=int8",
                 "sync.outer=" + entry.name, sgd ? "sync.outer_lr=0.7" : "sync.outer_lr=0.05"});
      const std::vector<float> start = team.state(0).parameters;
      team.run();
      require_equal_replicas(team);
      CHECK(team.state(0).parameters != start);
    }
  }
}

TEST_CASE("strategies: a peer that dies costs the others nothing but its samples") {
  for (const char* strategy : {"allreduce", "local"}) {
    std::vector<std::string> settings = {"sync.name=" + std::string(strategy), "train.epochs=6",
                                         "train.batch=16"};
    if (settings[0] == "sync.name=local") {
      settings.emplace_back("sync.period=2");
    }
    Team team(4, settings);
    team.run_until([&] { return team.reports[1].size() >= 3; });
    team.kill(1);
    team.run();
    require_equal_replicas(team);
    CHECK(team.summaries[0]->samples == 6 * 512);  // its leases were worked off by the others
  }
}

}  // namespace shoal::node::tests
