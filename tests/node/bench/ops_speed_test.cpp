#include "node/bench/ops_speed.h"

#include "tests/node/support/team.h"

namespace shoal::node::tests {

TEST_CASE("bench ops: the products are those of the layers, and every figure is one") {
  const BootClock clock;
  const auto config = Team::config(1, 0, {"model.layers=[16, 24, 4]", "train.batch=48"});
  const StepSpeed speed = must(time_step(config, Duration{0}, clock));
  CHECK(speed.model == "mlp");
  CHECK(speed.parameters == 16 * 24 + 24 + 24 * 4 + 4);
  CHECK(speed.batch == 48);
  REQUIRE(speed.gemms.size() == 2);
  const std::vector<std::vector<std::uint64_t>> shapes = {{48, 24, 16}, {48, 4, 24}};
  for (std::size_t i = 0; i < 2; ++i) {
    const GemmSpeed& g = speed.gemms[i];
    CHECK(std::vector{g.m, g.n, g.k} == shapes[i]);
    CHECK(g.gflops > 0);
  }
  CHECK(speed.gradient_s > 0);
  CHECK(speed.optimizer_s > 0);
  CHECK(speed.peak_gflops > 0);
}

TEST_CASE("bench ops: a model that does not fit its data is an error in words") {
  const BootClock clock;
  const auto config = Team::config(1, 0, {"model.layers=[17, 4]"});
  const auto speed = time_step(config, Duration{0}, clock);
  REQUIRE_FALSE(speed.ok());
  CHECK(speed.error().code == Code::kConfig);
}

}  // namespace shoal::node::tests
