#include "node/pace.h"

#include "tests/node/support/team.h"

namespace shoal::node::tests {
namespace {

using std::chrono::milliseconds;

/// Virtual time that a run of two peers takes when the second may compute for `share` of its time.
double run_seconds(double cores, const std::string& strategy) {
  Team team(2, {"sync.name=" + strategy}, [&](std::size_t i, Team::Changes& changes) {
    if (i == 1) {
      changes.settings.push_back("limits.cores=" + std::to_string(cores));
    }
  });
  team.run();
  require_equal_replicas(team);
  return team.summaries[1]->wall_s;
}

}  // namespace

TEST_CASE("pace: a share of the time is work, the rest is rest") {
  TimePoint now{};
  Duration worked{0};
  Pace pace(0.25);
  for (int step = 1; step <= 100; ++step) {
    now = std::max(now, pace.next());
    const Duration busy = milliseconds(step % 7 + 1);
    worked += busy;
    now = now + busy;
    pace.worked(now, busy);
  }
  now = std::max(now, pace.next());
  CHECK(seconds(worked) / seconds(now - TimePoint{}) == Approx(0.25));
}

TEST_CASE("pace: waiting for others counts as rest, and earns nothing") {
  Pace pace(0.5);
  const TimePoint end{milliseconds(100)};
  pace.worked(end, milliseconds(10));
  CHECK(pace.next() == end + milliseconds(10));
  const TimePoint later = end + std::chrono::seconds(5);
  pace.worked(later, milliseconds(10));
  CHECK(pace.next() == later + milliseconds(10));
}

TEST_CASE("pace: who may work all the time never rests, and is not cut in pieces") {
  Pace pace(1);
  const TimePoint end{milliseconds(100)};
  pace.worked(end, milliseconds(10));
  CHECK(pace.next() == end);
  CHECK(pace.piece() == Duration::max());
  CHECK(Pace(0.5).piece() < std::chrono::seconds(1));
}

TEST_CASE("pace: limits.cores is CPUs, threads and a share of the time") {
  CHECK(plan_cores(0, 4, 8).cpus == 8);
  CHECK(plan_cores(0, 4, 8).share == 1);
  const CorePlan half = plan_cores(0.5, 4, 8);
  CHECK(half.cpus == 1);
  CHECK(half.blas_threads == 1);
  CHECK(half.share == 0.5);
  const CorePlan more = plan_cores(1.5, 1, 8);
  CHECK(more.cpus == 2);
  CHECK(more.share == 1);
  CHECK(plan_cores(1.5, 2, 8).share == 0.75);
  CHECK(plan_cores(16, 4, 8).cpus == 8);
}

TEST_CASE("pace: the smaller of both limits counts on a GPU, cores alone on a CPU") {
  const auto config = Team::config(2, 0, {"limits.cores=0.5", "limits.gpu_share=0.2"});
  CHECK(compute_share(config, ops::DeviceKind::kCpu) == 0.5);
  CHECK(compute_share(config, ops::DeviceKind::kCuda) == 0.2);
}

TEST_CASE("pace: a peer with a hundredth of a core computes for a hundredth of its time") {
  for (const char* strategy : {"allreduce", "local"}) {
    INFO(strategy);
    const double free = run_seconds(0, strategy);
    const double bound = run_seconds(0.01, strategy);
    // 4 epochs of 512 samples at 20 us, half of them its own: 20 ms of computing, so 2 s of rest,
    // of which each of at most 32 rounds hides the 20 ms or so that it takes to exchange. The
    // shared optimizer's step is 20 us more a round.
    CHECK(bound > free + 1.2);
    CHECK(bound < free + 2.2);
  }
}

}  // namespace shoal::node::tests
