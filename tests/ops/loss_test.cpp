#include "ops/loss.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/support/random.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

/// Outputs and targets as a loss takes them: classes, or a number for each output.
struct Batch {
  std::vector<double> output;
  std::vector<std::int32_t> classes;
  std::vector<float> numbers;
  Shape shape;

  Batch(const LossEntry& entry, std::size_t rows, std::size_t cols, Rng rng)
      : output(random_vector<double>(rng, rows * cols)),
        shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)} {
    for (std::size_t i = 0; entry.classes && i < rows; ++i) {
      classes.push_back(static_cast<std::int32_t>(rng.below(cols)));
    }
    for (std::size_t i = 0; !entry.classes && i < rows * cols; ++i) {
      numbers.push_back(static_cast<float>(rng.uniform()));
    }
  }
  [[nodiscard]] TensorView out() { return host_view(output.data(), shape); }
  [[nodiscard]] ConstTensorView targets() const {
    return numbers.empty() ? ConstTensorView(host_view(classes.data(),
                                                       {static_cast<std::int64_t>(classes.size())}))
                           : ConstTensorView(host_view(numbers.data(), shape));
  }
};

void check_slopes(Backend& backend, Loss& loss, Batch& batch) {
  constexpr double kScale = 0.25;
  constexpr double kStep = 1e-6;
  std::vector<double> gradient(batch.output.size());
  REQUIRE(loss.evaluate(backend, batch.out(), batch.targets(), kScale,
                        host_view(gradient.data(), batch.shape))
              .ok());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto at = [&](double shift) {
      Batch moved = batch;
      moved.output[i] += shift;
      return loss.evaluate(backend, moved.out(), moved.targets(), 0, {})->loss_sum;
    };
    const double slope = kScale * (at(kStep) - at(-kStep)) / (2 * kStep);
    // As in layers_test.cpp: rounding 1e-9, truncation h^2.
    REQUIRE(std::abs(slope - gradient[i]) < 1e-6);
  }
  auto in_place = batch.output;
  REQUIRE(loss.evaluate(backend, host_view(in_place.data(), batch.shape), batch.targets(), kScale,
                        host_view(in_place.data(), batch.shape))
              .ok());
  CHECK(in_place == gradient);
}

TEST_CASE("every loss agrees with finite differences, sizes of 1 among them") {
  const auto backend = make_reference_backend();
  const auto seed = test_seed(10);
  for (const auto& entry : loss_registry()) {
    for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 3}, {7, 5}}) {
      INFO(entry.name << " " << rows << "x" << cols);
      const auto loss = *make_loss(entry.name);
      Batch batch(entry, rows, cols, Rng(seed, rows));
      check_slopes(*backend, *loss, batch);
    }
  }
}

TEST_CASE("smoothed labels and ignored ones, by finite differences") {
  const auto backend = make_reference_backend();
  const auto& entry = loss_registry()[0];
  const auto loss = *make_loss(entry.name, {{"smoothing", 0.1}, {"ignored", std::int64_t{-1}}});
  Batch batch(entry, 6, 5, Rng(test_seed(11), 0));
  batch.classes[1] = -1;
  batch.classes[5] = -1;
  check_slopes(*backend, *loss, batch);
  const auto result = loss->evaluate(*backend, batch.out(), batch.targets(), 0, {});
  REQUIRE(result.ok());
  CHECK(result->samples == 4);
  // The ignored rows do not count whatever they hold.
  batch.output[5] = 1e9;
  CHECK(loss->evaluate(*backend, batch.out(), batch.targets(), 0, {})->loss_sum ==
        result->loss_sum);
}

TEST_CASE("a smoothed label is cross-entropy with a share of it spread over all classes") {
  // Szegedy et al., arXiv 1512.00567, section 7, which PyTorch's label_smoothing is: the target is
  // 1 - s of the label and s / 3 of each class, itself too.
  const auto backend = make_reference_backend();
  const std::vector<double> scores = {1, -2, 0.5};
  const std::vector<std::int32_t> target = {2};
  const double s = 0.3;
  const auto loss = *make_loss("softmax-cross-entropy", {{"smoothing", s}});
  std::vector<double> gradient(3);
  const auto result =
      loss->evaluate(*backend, host_view(scores.data(), {1, 3}), host_view(target.data(), {1}), 1,
                     host_view(gradient.data(), {1, 3}));
  REQUIRE(result.ok());
  const double sum = std::exp(1.0) + std::exp(-2.0) + std::exp(0.5);
  double expected = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double wanted = (c == 2 ? 1 - s : 0) + s / 3;
    const double p = std::exp(scores[c]) / sum;
    expected -= wanted * std::log(p);
    // A handful of roundings of numbers below 3, at 1.1e-16.
    CHECK(gradient[c] == Approx(p - wanted).epsilon(1e-14).margin(1e-15));
  }
  CHECK(result->loss_sum == Approx(expected).epsilon(1e-14));
}

TEST_CASE("every loss in float32 agrees with float64, tokens of sequences too") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  const auto seed = test_seed(13);
  for (const auto& entry : loss_registry()) {
    for (const std::size_t cols : {1U, 2U, 10U, 16U, 65U}) {
      INFO(entry.name << " " << cols);
      Batch batch(entry, 6, cols, Rng(seed, cols));
      batch.shape = {2, 3, static_cast<std::int64_t>(cols)};
      const std::vector<float> output(batch.output.begin(), batch.output.end());
      std::vector<double> d64(output.size());
      std::vector<float> d32(output.size());
      std::vector<std::pair<std::string, OptionValue>> options;
      if (entry.classes) {
        options = {{"smoothing", 0.2}};
      }
      const auto a = (*make_loss(entry.name, options))
                         ->evaluate(*exact, batch.out(), batch.targets(), 0.5,
                                    host_view(d64.data(), batch.shape));
      const auto b = (*make_loss(entry.name, options))
                         ->evaluate(*cpu, host_view(output.data(), batch.shape), batch.targets(),
                                    0.5, host_view(d32.data(), batch.shape));
      REQUIRE((a.ok() && b.ok()));
      CHECK(a->samples == 6);
      CHECK(b->correct == a->correct);
      // 65 terms of at most 5 with eps = 6e-8, and exp within 2 ulp: below 3e-5 a row, 6 rows.
      CHECK(std::abs(a->loss_sum - b->loss_sum) < 2e-4);
      for (std::size_t i = 0; i < d64.size(); ++i) {
        REQUIRE(std::abs(d64[i] - static_cast<double>(d32[i])) < 1e-5);
      }
    }
  }
}

TEST_CASE("numbers and yes or no, of known outputs") {
  const auto backend = make_cpu_backend();
  const std::vector<float> output = {1, 3, 0, -2};
  const std::vector<float> targets = {0, 1, 0.5F, 0};
  const auto squares = (*make_loss("mean-squared-error"))
                           ->evaluate(*backend, host_view(output.data(), {2, 2}),
                                      host_view(targets.data(), {2, 2}), 1, {});
  REQUIRE(squares.ok());
  CHECK(squares->loss_sum == Approx((1.0 + 4) / 2 + (0.25 + 4) / 2));
  CHECK(squares->samples == 2);
  const auto binary = (*make_loss("binary-cross-entropy"))
                          ->evaluate(*backend, host_view(output.data(), {2, 2}),
                                     host_view(targets.data(), {2, 2}), 1, {});
  REQUIRE(binary.ok());
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  CHECK(
      binary->loss_sum ==
      Approx((softplus(1) + softplus(-3)) / 2 + (std::log(2.0) + softplus(-2)) / 2).epsilon(1e-6));
  CHECK(binary->correct == 1);
  const auto few = (*make_loss("mean-squared-error"))
                       ->evaluate(*backend, host_view(output.data(), {2, 2}),
                                  host_view(targets.data(), {3}), 1, {});
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().code == Code::kData);
  for (const float bad : {-0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> wrong = {0, 1, bad, 0};
    const auto refused = (*make_loss("binary-cross-entropy"))
                             ->evaluate(*backend, host_view(output.data(), {2, 2}),
                                        host_view(wrong.data(), {2, 2}), 1, {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kData);
  }
  CHECK_FALSE(make_loss("softmax-cross-entropy", {{"smoothing", 2.0}}).ok());
  CHECK_FALSE(make_loss("mean-squared-error", {{"smoothing", 0.0}}).ok());
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
