#include <cmath>

#include "ops/model.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"

// What the registry's tests cannot see: side effects of batch norm.
namespace shoal::ops::tests {
namespace {

std::shared_ptr<const Architecture> with_batch_norm(const std::string& statistics) {
  ModelSpec spec;
  spec.input = {{3, 4}, false};
  spec.layers = {{"batch_norm", "bn", {{"statistics", statistics}}},
                 {"flatten", "flatten", {}},
                 {"linear", "fc", {{"out", std::int64_t{2}}}}};
  return *Architecture::make(spec);
}

/// Mean and unbiased variance of channel `c` of x [batch, 3, 4].
std::pair<double, double> statistics(const std::vector<float>& x, std::size_t batch,
                                     std::size_t c) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < batch * 4; ++i) {
    const double value = static_cast<double>(x[i / 4 * 12 + c * 4 + i % 4]);
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(batch * 4);
  const double mean = sum / count;
  return {mean, (squares / count - mean * mean) * count / (count - 1)};
}

TEST_CASE("running statistics are staged and applied once, in the order of micro-batches") {
  const auto backend = make_reference_backend();
  const auto model = *Model::make(with_batch_norm("average"), *backend, 1);
  Rng rng(1, 2);
  const auto first = random_vector<float>(rng, 5 * 12);
  const auto second = random_vector<float>(rng, 2 * 12);
  Pass a;
  Pass b;
  REQUIRE(model->forward({Mode::kTrain, 0, 0}, host_view(first.data(), {5, 3, 4}), a).ok());
  REQUIRE(model->forward({Mode::kTrain, 0, 1}, host_view(second.data(), {2, 3, 4}), b).ok());
  std::vector<float> buffers(7);
  model->buffers().read({0, 7}, buffers);
  CHECK(buffers == std::vector<float>{0, 0, 0, 1, 1, 1, 0});
  model->end_step({Mode::kTrain, 0, 0}, a);
  model->end_step({Mode::kTrain, 0, 1}, b);
  model->buffers().read({0, 7}, buffers);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto [m1, v1] = statistics(first, 5, c);
    const auto [m2, v2] = statistics(second, 2, c);
    // Running values are held as float32 when read: 1e-6 is ten of its roundings.
    CHECK(static_cast<double>(buffers[c]) == Approx(0.9 * 0.1 * m1 + 0.1 * m2).margin(1e-6));
    CHECK(static_cast<double>(buffers[3 + c]) ==
          Approx(0.9 * (0.9 + 0.1 * v1) + 0.1 * v2).epsilon(1e-6));
  }
  CHECK(buffers[6] == 2.0F);
}

TEST_CASE("in eval mode running statistics take the batch's place and nothing is staged") {
  const auto backend = make_reference_backend();
  const auto model = *Model::make(with_batch_norm("average"), *backend, 1);
  const std::vector<float> buffers{1, 2, 3, 4, 5, 6, 7};
  model->buffers().write({0, 7}, buffers);
  Rng rng(1, 3);
  auto x = random_vector<float>(rng, 2 * 12);
  Pass pass;
  const PassInfo eval{Mode::kEval, 0, 0};
  const auto both = model->forward(eval, host_view(std::as_const(x).data(), {2, 3, 4}), pass);
  REQUIRE(both.ok());
  const std::vector<double> two(both->span<double>().begin(), both->span<double>().end());
  // A sample's result does not depend on who else is in the batch.
  const auto alone = model->forward(eval, host_view(std::as_const(x).data(), {1, 3, 4}), pass);
  REQUIRE(alone.ok());
  CHECK(alone->span<double>()[0] == two[0]);
  CHECK(alone->span<double>()[1] == two[1]);
  model->end_step(eval, pass);
  std::vector<float> after(7);
  model->buffers().read({0, 7}, after);
  CHECK(after == buffers);
}

TEST_CASE("statistics are averaged or kept local, as set") {
  const auto averaged = with_batch_norm("average");
  REQUIRE(!averaged->map().buffers().empty());
  for (const auto& buffer : averaged->map().buffers()) {
    CHECK(buffer.policy == BufferPolicy::kAverage);
  }
  const auto local = with_batch_norm("keep_local");
  for (const auto& buffer : local->map().buffers()) {
    CHECK(buffer.policy == BufferPolicy::kKeepLocal);
  }
}

}  // namespace
}  // namespace shoal::ops::tests
