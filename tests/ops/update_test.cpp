#include <cmath>
#include <cstring>
#include <functional>

#include "hwy/highway.h"
#include "ops/cpu/elementwise.h"
#include "ops/norm.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

Shape vector_shape(std::size_t n) { return {static_cast<std::int64_t>(n)}; }

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// What three steps of a rule make of random arrays of one length.
struct Arrays {
  std::vector<float> p, g, m, v, out;

  Arrays(std::size_t count, Rng rng)
      : p(random_vector<float>(rng, count)),
        g(random_vector<float>(rng, count)),
        m(random_vector<float>(rng, count)),
        v(random_vector<float>(rng, count)),
        out(count) {
    const float special[] = {0.0F, -0.0F, 1e-40F, 1e-22F, 1e15F};
    for (std::size_t i = 0; i < count; i += 5) {
      g[i] = special[(i / 5) % std::size(special)];
    }
    for (auto& square : v) {
      square = square * square;
    }
    // As often equal as not, since Yogi tells more from less.
    for (std::size_t i = 0; i < count; i += 3) {
      v[i] = g[i] * g[i];
    }
  }

  void step(Backend& backend, UpdateRule rule, double decay) {
    const auto shape = vector_shape(p.size());
    UpdateStep s;
    s.rule = rule;
    s.parameters = host_view(p.data(), shape);
    s.gradients = host_view(std::as_const(g).data(), shape);
    s.first = has_first(rule) ? host_view(m.data(), shape) : TensorView();
    s.second = has_second(rule) ? host_view(v.data(), shape) : TensorView();
    s.direction = rule == UpdateRule::kLamb ? host_view(out.data(), shape) : TensorView();
    s.numbers = {0.1, decay, 0.9, 1 - 0.9, 0.99, 1 - 0.99, 1e-8, 1.7, 1.3};
    backend.update(s);
  }

  [[nodiscard]] bool same(const Arrays& other) const {
    return same_bits(p, other.p) && same_bits(m, other.m) && same_bits(v, other.v) &&
           same_bits(out, other.out);
  }
};

TEST_CASE("every rule of an optimizer equals its body to the bit on every vector target") {
  const auto bodies = std::make_unique<HostBackend<float>>();
  const auto cpu = make_cpu_backend();
  for_each_target([&] {
    for (std::int32_t number = 0; number < kUpdateRuleCount; ++number) {
      const auto rule = static_cast<UpdateRule>(number);
      for (const double decay : {0.0, 0.01}) {
        for (const std::size_t count : {0U, 1U, 2U, 7U, 15U, 16U, 17U, 63U, 64U, 65U, 1000U}) {
          Arrays a(count, Rng(test_seed(40), count));
          Arrays b = a;
          const Arrays before = a;
          for (int step = 0; step < 3; ++step) {
            a.step(*bodies, rule, decay);
            b.step(*cpu, rule, decay);
          }
          INFO("rule " << number << ", " << count << " elements");
          REQUIRE(a.same(b));
          REQUIRE((count < 2 || !a.same(before)));
          // No step of finite numbers leaves the finite numbers, nor makes a square negative.
          for (std::size_t i = 0; i < count; ++i) {
            REQUIRE((std::isfinite(a.p[i]) && a.v[i] >= 0));
          }
        }
      }
    }
  });
}

TEST_CASE("a sum of squares is the same from every backend, and right") {
  const auto cpu = make_cpu_backend();
  const auto bodies = std::make_unique<HostBackend<float>>();
  for (const std::size_t count : {0U, 1U, 7U, 8U, 255U, 256U, 257U, 5000U}) {
    Rng rng(test_seed(41), count);
    const auto x = random_vector<float>(rng, count);
    long double exact = 0;
    for (const float value : x) {
      exact += static_cast<long double>(value) * static_cast<long double>(value);
    }
    const double sum = sum_squares(x);
    // Additions of positive numbers: each rounds by 1.1e-16 of the sum, at most 32 in a leaf and
    // 20 leaves.
    CHECK(sum == Approx(static_cast<double>(exact)).epsilon(1e-14));
    for (Backend* backend :
         {static_cast<Backend*>(cpu.get()), static_cast<Backend*>(bodies.get())}) {
      auto sums = *SquareSums::make(*backend, 2 * SquareSums::leaves(count));
      const auto view = host_view(x.data(), vector_shape(count));
      const ConstTensorView both[] = {view, view};
      const auto found = sums.of(both);
      REQUIRE(found.size() == 2);
      CHECK(found[0] == sum);
      CHECK(found[1] == sum);
    }
  }
}

TEST_CASE("the order of a sum of squares is the one written down") {
  // Leaves of 256, eight running sums, ((0+4)+(2+6)) + ((1+5)+(3+7)), leaves in order.
  Rng rng(test_seed(42), 0);
  const auto x = random_vector<float>(rng, 300);
  const auto leaf = [&](std::size_t begin, std::size_t end) {
    double s[8] = {};
    for (std::size_t i = begin; i < end; ++i) {
      s[(i - begin) % 8] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  };
  CHECK(sum_squares(x) == leaf(0, 256) + leaf(256, 300));
}

TEST_CASE("clipping cuts a norm to its bound, and only what is above") {
  const auto cpu = make_cpu_backend();
  Rng rng(test_seed(43), 0);
  const auto x = random_vector<float>(rng, 1000);
  const double norm = std::sqrt(sum_squares(x));
  auto kept = x;
  CHECK(clip_norm(kept, norm * 1.01) == norm);
  CHECK(kept == x);
  auto cut = x;
  CHECK(clip_norm(cut, norm / 3) == norm);
  // The factor and each product round once in float32.
  CHECK(std::sqrt(sum_squares(cut)) == Approx(norm / 3).epsilon(2e-7));
  CHECK(cut[7] / x[7] == Approx(1.0 / 3).epsilon(3e-7));
  auto on_device = x;
  auto sums = *SquareSums::make(*cpu, SquareSums::leaves(x.size()));
  CHECK(clip_norm(*cpu, host_view(on_device.data(), vector_shape(1000)), norm / 3, sums) == norm);
  CHECK(same_bits(on_device, cut));

  // Numbers whose squares leave float32's range, and what no factor mends.
  std::vector<float> large(4, 3e38F);
  CHECK(clip_norm(large, 1.0) == Approx(6e38));
  CHECK(large[0] == Approx(0.5).epsilon(2e-7));
  std::vector<float> broken = {1.0F, std::numeric_limits<float>::infinity()};
  CHECK_FALSE(std::isfinite(clip_norm(broken, 1.0)));
  CHECK(broken[0] == 1.0F);
}

}  // namespace
}  // namespace shoal::ops::tests
