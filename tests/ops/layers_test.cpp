#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ops/support/one_layer.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// Every layer of the registry, before anyone writes a test for it.
namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;
using Layer64 = OneLayer<double>;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Slopes of sum(y * r) along each value, against what backward said. With h = 1e-6 a central
/// difference is off by rounding, 1e-16 |f| / h <= 1e-9 for |f| < 10, and by h^2 f'''; 1e-6 of the
/// largest slope or of 1 leaves three digits for layers with large third derivatives.
void check_slopes(Layer64& one, std::vector<double>& values, const std::vector<double>& gradient,
                  const std::vector<double>& r) {
  constexpr double kStep = 1e-6;
  REQUIRE(values.size() == gradient.size());
  Saved saved;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double kept = values[i];
    values[i] = kept + kStep;
    const double above = dot(one.forward(saved), r);
    values[i] = kept - kStep;
    const double below = dot(one.forward(saved), r);
    values[i] = kept;
    const double slope = (above - below) / (2 * kStep);
    INFO("element " << i << ": difference " << slope << ", backward " << gradient[i]);
    REQUIRE(std::abs(slope - gradient[i]) <= 1e-6 * std::max(1.0, std::abs(slope)));
  }
}

TEST_CASE("backward agrees with finite differences") {
  const auto seed = test_seed(6);
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    Layer64 one(entry, example, batch, Rng(seed, batch));
    Rng rng(seed, 100 + batch);
    const auto r = random_vector<double>(rng, one.y_shape.elements());
    Saved saved;
    one.forward(saved);
    const auto dx = one.backward(saved, r);
    if (!one.index) {
      check_slopes(one, one.x, dx, r);
    }
    for (std::size_t p = 0; p < one.params.size(); ++p) {
      INFO(one.plan.params[p].name);
      check_slopes(one, one.params[p], one.grads[p], r);
    }
  });
}

TEST_CASE("gradients are added when asked, and left alone when frozen") {
  const auto seed = test_seed(7);
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    Layer64 one(entry, example, batch, Rng(seed, batch));
    Rng rng(seed, 100);
    const auto r = random_vector<double>(rng, one.y_shape.elements());
    Saved saved;
    one.forward(saved);
    const auto dx = one.backward(saved, r);
    const auto once = one.grads;
    one.backward(saved, r, Into::kAdd);
    for (std::size_t p = 0; p < once.size(); ++p) {
      for (std::size_t i = 0; i < once[p].size(); ++i) {
        // Doubling is exact; a layer that adds term by term may be off by its roundings.
        REQUIRE(one.grads[p][i] == Approx(2 * once[p][i]).epsilon(1e-13).margin(1e-13));
      }
    }
    const auto twice = one.grads;
    one.frozen = true;
    CHECK(one.backward(saved, r) == dx);
    CHECK(one.grads == twice);
    one.frozen = false;
    one.input_gradient = false;
    one.backward(saved, r);
    CHECK(one.grads == once);
  });
}

TEST_CASE("passes in flight do not disturb each other, and a dropped one is restored") {
  const auto seed = test_seed(8);
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    Layer64 one(entry, example, batch, Rng(seed, batch));
    Rng rng(seed, 100);
    const auto r = random_vector<double>(rng, one.y_shape.elements());
    Saved first;
    const auto y = one.forward(first, 1);
    const auto x = one.x;
    const auto dx = one.backward(first, r, Into::kReplace, 1);
    const auto grads = one.grads;

    Saved again;
    CHECK(one.forward(again, 1) == y);
    // A second pass has its own input, which must stay where it is.
    Layer64 other(entry, example, batch, Rng(seed, 50 + batch));
    other.params = one.params;
    Saved second;
    other.forward(second, 2);
    CHECK(one.backward(again, r, Into::kReplace, 1) == dx);
    CHECK(one.grads == grads);
    CHECK(one.x == x);
  });
}

TEST_CASE("a layer remembers as much as its plan says") {
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    OneLayer<float> one(entry, example, batch, Rng(1, batch));
    Saved saved;
    one.forward(saved);
    CHECK(saved.bytes() ==
          (one.plan.saved_elements * batch + one.plan.saved_fixed) * sizeof(float));
  });
}

TEST_CASE("an empty batch gives nothing, gradients of 0, and moves no statistics") {
  const auto cpu = make_cpu_backend();
  for (const auto& entry : layer_registry()) {
    for (const auto& example : entry.examples) {
      INFO(entry.type);
      OneLayer<float> one(entry, example, 0, Rng(1, 0));
      for (auto& gradient : one.grads) {
        std::fill(gradient.begin(), gradient.end(), 7.0F);
      }
      const auto before = one.buffers;
      Saved saved;
      saved.input = one.input();
      auto ctx = one.context();
      ctx.backend = cpu.get();
      const auto y = one.layer->forward(ctx, one.input(), saved);
      REQUIRE(y.ok());
      CHECK(y->shape == one.y_shape);
      std::vector<float> dy(1);
      REQUIRE(one.layer->backward(ctx, host_view(dy.data(), one.y_shape), saved).ok());
      for (const auto& gradient : one.grads) {
        CHECK(gradient == std::vector<float>(gradient.size()));
      }
      one.layer->step(ctx, saved);
      CHECK(one.buffers == before);
    }
  }
}

TEST_CASE("float32 on the CPU agrees with float64") {
  const auto seed = test_seed(9);
  const auto cpu = make_cpu_backend();
  for_each_layer([&](const LayerEntry& entry, const LayerExample& example, std::size_t batch) {
    Layer64 exact(entry, example, batch, Rng(seed, batch));
    OneLayer<float> one(entry, example, batch, Rng(seed, batch));
    Rng rng(seed, 100);
    const auto r = random_vector<double>(rng, exact.y_shape.elements());
    std::vector<float> r32(r.begin(), r.end());
    Saved saved64;
    const auto y64 = exact.forward(saved64);
    const auto dx64 = exact.backward(saved64, r);

    Saved saved;
    saved.input = one.input();
    auto ctx = one.context();
    ctx.backend = cpu.get();
    const auto y = one.layer->forward(ctx, one.input(), saved);
    REQUIRE(y.ok());
    // Sums of at most 17 products of numbers below 5 with eps = 6e-8: 1e-4 is ten times the worst.
    const auto y32 = y->span<float>();
    for (std::size_t i = 0; i < y64.size(); ++i) {
      REQUIRE(static_cast<double>(y32[i]) == Approx(y64[i]).epsilon(1e-4).margin(1e-4));
    }
    const auto dx = one.layer->backward(ctx, host_view(r32.data(), one.y_shape), saved);
    REQUIRE(dx.ok());
    for (std::size_t i = 0; i < dx64.size(); ++i) {
      REQUIRE(static_cast<double>(dx->span<float>()[i]) ==
              Approx(dx64[i]).epsilon(1e-4).margin(1e-4));
    }
    for (std::size_t p = 0; p < one.grads.size(); ++p) {
      for (std::size_t i = 0; i < one.grads[p].size(); ++i) {
        REQUIRE(static_cast<double>(one.grads[p][i]) ==
                Approx(exact.grads[p][i]).epsilon(1e-4).margin(1e-4));
      }
    }
  });
}

TEST_CASE("a layer type that is not there is answered with the nearest") {
  const auto found = find_layer("linaer");
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().code == Code::kConfig);
  CHECK(found.error().message.find("\"linear\"") != std::string::npos);
}

}  // namespace
}  // namespace shoal::ops::tests
