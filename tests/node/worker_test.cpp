#include "node/worker.h"

#include "tests/node/support/team.h"

namespace shoal::node::tests {
namespace {

std::vector<float> parameters_of(const std::vector<std::string>& settings) {
  Team team(3, settings);
  team.run();
  require_equal_replicas(team);
  return team.state(0).parameters;
}

/// Largest difference of two parameter vectors.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most;
}

}  // namespace

TEST_CASE("worker: a step finds the samples of its round ready, and they are the same") {
  for (const char* strategy : {"allreduce", "local"}) {
    for (const char* mode : {"shared", "private"}) {
      INFO(strategy << ", " << mode);
      std::vector<std::string> settings = {"sync.name=" + std::string(strategy),
                                           "data.mode=" + std::string(mode), "train.batch=48"};
      if (settings[0] == "sync.name=local") {
        settings.insert(settings.end(), {"train.batch=16", "sync.period=2"});
      }
      Team direct(3, settings);
      direct.run();
      Team ahead(3, settings, [](std::size_t, Team::Changes& changes) { changes.prefetch = true; });
      ahead.run();
      require_equal_replicas(ahead);
      CHECK(ahead.summaries[0]->parameter_hash == direct.summaries[0]->parameter_hash);
      // Every batch but the run's first and the first behind each of 4 epochs' evaluations, which
      // the leader alone makes.
      const std::uint64_t steps = ahead.summaries[1]->steps;
      CHECK(direct.ready_batches(1) == 0);
      CHECK(ahead.ready_batches(1) >= steps - 1);
      CHECK(ahead.ready_batches(0) >= steps - 1 - 4);
    }
  }
}

TEST_CASE("worker: micro-batches give the step of the whole batch, recomputing or not") {
  const std::vector<std::string> base = {"train.epochs=1", "train.batch=96"};
  const auto with = [&base](const std::vector<std::string>& more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return parameters_of(all);
  };
  const auto whole = with({});
  CHECK(with({"train.recompute=true"}) == whole);  // to the bit
  CHECK(with({"train.recompute=[fc1]"}) == whole);
  const auto cut = with({"train.micro_batch=5"});
  CHECK(cut != whole);
  // A gradient is a mean of 32 terms of size about 1, summed in another order: 32 * 2^-24 of it a
  // step, times lr 0.05, over 6 steps in which momentum 0.9 sums up to 10 of them.
  CHECK(distance(cut, whole) <= 32 * 0x1p-24 * 0.05 * 6 * 10);
}

}  // namespace shoal::node::tests
