#include "ops/loss.h"

#include <cmath>
#include <limits>

#include "tests/ops/support/random.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

struct Batch {
  std::vector<double> output;
  std::vector<std::int32_t> targets;
  Shape shape;

  Batch(std::size_t rows, std::size_t cols, Rng rng)
      : output(random_vector<double>(rng, rows * cols)),
        shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)} {
    for (std::size_t i = 0; i < rows; ++i) {
      targets.push_back(static_cast<std::int32_t>(rng.below(cols)));
    }
  }
  [[nodiscard]] TensorView out() { return host_view(output.data(), shape); }
  [[nodiscard]] ConstTensorView labels() const {
    return host_view(targets.data(), {static_cast<std::int64_t>(targets.size())});
  }
};

TEST_CASE("every loss agrees with finite differences, sizes of 1 among them") {
  const auto backend = make_reference_backend();
  const auto seed = test_seed(10);
  for (const auto& entry : loss_registry()) {
    for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 3}, {7, 5}}) {
      INFO(entry.name << " " << rows << "x" << cols);
      const auto loss = entry.make();
      Batch batch(rows, cols, Rng(seed, rows));
      std::vector<double> gradient(rows * cols);
      constexpr double kScale = 0.25;
      REQUIRE(loss->evaluate(*backend, batch.out(), batch.labels(), kScale,
                             host_view(gradient.data(), batch.shape))
                  .ok());
      constexpr double kStep = 1e-6;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const auto at = [&](double shift) {
          Batch moved = batch;
          moved.output[i] += shift;
          return loss->evaluate(*backend, moved.out(), moved.labels(), 0, {})->loss_sum;
        };
        const double slope = kScale * (at(kStep) - at(-kStep)) / (2 * kStep);
        // As in layers_test.cpp: rounding 1e-9, truncation h^2.
        REQUIRE(std::abs(slope - gradient[i]) < 1e-6);
      }
      auto in_place = batch.output;
      REQUIRE(loss->evaluate(*backend, host_view(in_place.data(), batch.shape), batch.labels(),
                             kScale, host_view(in_place.data(), batch.shape))
                  .ok());
      CHECK(in_place == gradient);
    }
  }
}

TEST_CASE("cross-entropy of known scores, counted") {
  const auto backend = make_cpu_backend();
  const auto loss = *make_loss("softmax-cross-entropy");
  const std::vector<float> scores = {0, 0, 0, 0, 2, 0, 0, 0, 1000, -1000, 0, 0};
  const std::vector<std::int32_t> targets = {3, 0, 0};
  const auto result = loss->evaluate(*backend, host_view(scores.data(), {3, 4}),
                                     host_view(targets.data(), {3}), 1, {});
  REQUIRE(result.ok());
  // log 4, then log(e^2 + 3) - 2, then 0 although e^1000 is beyond any float.
  const double expected = std::log(4.0) + std::log(std::exp(2.0) + 3) - 2;
  CHECK(result->loss_sum == Approx(expected).epsilon(1e-6));  // float32 rows
  CHECK(result->correct == 2);  // equal scores: the first class counts as said
  CHECK(result->samples == 3);
  CHECK(result->accuracy() == Approx(2.0 / 3));
  CHECK(BatchResult().mean_loss() == 0);
  CHECK(BatchResult().accuracy() == 0);
}

TEST_CASE("a broken score is seen in the loss") {
  const auto backend = make_cpu_backend();
  const auto loss = *make_loss("softmax-cross-entropy");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> scores = {0, bad, 1};
    const std::vector<std::int32_t> targets = {0};
    const auto result = loss->evaluate(*backend, host_view(scores.data(), {1, 3}),
                                       host_view(targets.data(), {1}), 1, {});
    REQUIRE(result.ok());
    CHECK_FALSE(std::isfinite(result->loss_sum));
  }
}

TEST_CASE("targets out of range are refused before they are used as an index") {
  const auto backend = make_cpu_backend();
  const auto loss = *make_loss("softmax-cross-entropy");
  const std::vector<float> scores = {0, 0, 0};
  for (const std::int32_t bad : {-1, 3, std::numeric_limits<std::int32_t>::max()}) {
    const auto result =
        loss->evaluate(*backend, host_view(scores.data(), {1, 3}), host_view(&bad, {1}), 1, {});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kData);
    CHECK(result.error().message.find(std::to_string(bad)) != std::string::npos);
  }
  const std::vector<std::int32_t> two = {0, 0};
  CHECK_FALSE(
      loss->evaluate(*backend, host_view(scores.data(), {1, 3}), host_view(two.data(), {2}), 1, {})
          .ok());
  CHECK_FALSE(make_loss("softmax").ok());
}

}  // namespace
}  // namespace shoal::ops::tests
