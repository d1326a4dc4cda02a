#include <cmath>
#include <functional>

#include "ops/optim/optimizer.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/optimizers.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// Each optimizer against its paper's algorithm, written here a second time in float64 and with
// none of its code. A step is a few roundings of 1e-16, and nothing here amplifies them.
namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;
using Vec = std::vector<double>;
using Values = std::vector<std::pair<std::string, OptionValue>>;

constexpr std::size_t kSteps = 20;
constexpr double kBound = 1e-12;

double norm(const Vec& x) {
  double sum = 0;
  for (const double value : x) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

/// What a paper says of one tensor: p after step t (from 1) at a rate, along g.
using Rule = std::function<void(std::size_t t, double rate, const Vec& g, Vec& p)>;

/// Runs an optimizer over two tensors, a matrix and a vector, and a rule for each beside it.
void check_rule(const std::string& name, const Values& values, Rule matrix, Rule vector) {
  const auto backend = make_reference_backend();
  const auto* entry = find_optimizer(name).value();
  const auto space = tensor_space({{5, 7}, {6}});
  const auto optimizer = *make_optimizer(name, with(*entry, values), *backend, space);
  Rng rng(test_seed(14), 0);
  auto p = random_vector<double>(rng, space.size());
  Vec a(p.begin(), p.begin() + 35);
  Vec b(p.begin() + 35, p.end());
  for (std::size_t t = 1; t <= kSteps; ++t) {
    const double rate = 0.1 / (1 + static_cast<double>(t));
    const auto g = random_vector<double>(rng, space.size());
    matrix(t, rate, {g.begin(), g.begin() + 35}, a);
    vector(t, rate, {g.begin() + 35, g.end()}, b);
    const Shape shape{static_cast<std::int64_t>(p.size())};
    optimizer->step(optimizer->scalars(rate, t - 1), Ranges(Range{0, p.size()}),
                    host_view(p.data(), shape), host_view(g.data(), shape));
  }
  a.insert(a.end(), b.begin(), b.end());
  INFO(name);
  for (std::size_t i = 0; i < p.size(); ++i) {
    REQUIRE(p[i] == Approx(a[i]).epsilon(kBound).margin(kBound));
  }
}

Rule sgd(double mu, double decay, bool nesterov) {
  return [=, m = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    m.resize(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double grad = g[i] + decay * p[i];
      m[i] = t == 1 ? grad : mu * m[i] + grad;
      const double direction = nesterov ? grad + mu * m[i] : m[i];
      p[i] -= rate * (mu == 0 ? grad : direction);
    }
  };
}

TEST_CASE("SGD is Sutskever's momentum as PyTorch writes it") {
  const auto check = [](double mu, double decay, bool nesterov, bool skips) {
    check_rule(
        "sgd",
        {{"momentum", mu}, {"weight_decay", decay}, {"nesterov", nesterov}, {"decay_skips", skips}},
        sgd(mu, decay, nesterov), sgd(mu, skips ? 0 : decay, nesterov));
  };
  check(0, 0, false, false);
  check(0.9, 0, false, false);
  check(0.9, 0, true, false);
  check(0.5, 0.01, true, false);
  check(0, 0.1, false, true);
}

/// Algorithm 2 of arXiv 1711.05101 (and 1 of 1412.6980), the decay scaled by the rate.
Rule adamw(double b1, double b2, double epsilon, double decay, bool corrects) {
  return [=, m = Vec(), v = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    m.resize(p.size());
    v.resize(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      const double time = static_cast<double>(t);
      const double mean = corrects ? m[i] / (1 - std::pow(b1, time)) : m[i];
      const double square = corrects ? v[i] / (1 - std::pow(b2, time)) : v[i];
      p[i] -= rate * (mean / (std::sqrt(square) + epsilon) + decay * p[i]);
    }
  };
}

TEST_CASE("AdamW is Loshchilov and Hutter's") {
  const auto check = [](double b1, double b2, double epsilon, double decay, bool corrects,
                        bool skips) {
    check_rule("adamw",
               {{"beta1", b1},
                {"beta2", b2},
                {"epsilon", epsilon},
                {"weight_decay", decay},
                {"bias_correction", corrects},
                {"decay_skips", skips}},
               adamw(b1, b2, epsilon, decay, corrects),
               adamw(b1, b2, epsilon, skips ? 0 : decay, corrects));
  };
  check(0.9, 0.999, 1e-8, 0.01, true, false);
  check(0.9, 0.95, 1e-8, 0.1, true, true);
  check(0, 0.9, 1e-3, 0, true, false);
  check(0.9, 0.99, 1e-3, 0, false, false);  // FedAdam
}

/// Duchi et al., diagonal form; with beta, algorithm 2 of arXiv 2003.00295.
Rule adagrad(double beta, double epsilon, double start, double decay) {
  return [=, m = Vec(), v = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    m.resize(p.size());
    v.resize(p.size(), start);
    SHOAL_CHECK(t > 0, "steps count from 1");
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double grad = g[i] + decay * p[i];
      v[i] += grad * grad;
      m[i] = beta * m[i] + (1 - beta) * grad;
      p[i] -= rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
  };
}

TEST_CASE("Adagrad is Duchi, Hazan and Singer's, with momentum FedAdagrad") {
  const auto check = [](double beta, double epsilon, double start, double decay, bool skips) {
    check_rule("adagrad",
               {{"momentum", beta},
                {"epsilon", epsilon},
                {"start", start},
                {"weight_decay", decay},
                {"decay_skips", skips}},
               adagrad(beta, epsilon, start, decay),
               adagrad(beta, epsilon, start, skips ? 0 : decay));
  };
  check(0, 1e-10, 0, 0, false);
  check(0, 1e-10, 0.5, 0.01, true);
  check(0.9, 1e-3, 0.25, 0, false);
}

/// Algorithm 2 of Zaheer et al.
Rule yogi(double b1, double b2, double epsilon, double start, double decay) {
  return [=, m = Vec(), v = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    m.resize(p.size());
    v.resize(p.size(), start);
    SHOAL_CHECK(t > 0, "steps count from 1");
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      const double square = g[i] * g[i];
      const double sign = v[i] > square ? 1.0 : (v[i] < square ? -1.0 : 0.0);
      v[i] -= (1 - b2) * sign * square;
      p[i] -= rate * (m[i] / (std::sqrt(v[i]) + epsilon) + decay * p[i]);
    }
  };
}

TEST_CASE("Yogi is Zaheer et al.'s") {
  const auto check = [](double b1, double b2, double epsilon, double start, double decay,
                        bool skips) {
    check_rule("yogi",
               {{"beta1", b1},
                {"beta2", b2},
                {"epsilon", epsilon},
                {"start", start},
                {"weight_decay", decay},
                {"decay_skips", skips}},
               yogi(b1, b2, epsilon, start, decay),
               yogi(b1, b2, epsilon, start, skips ? 0 : decay));
  };
  check(0.9, 0.999, 1e-3, 0.5, 0, false);
  check(0.9, 0.9, 1e-3, 0, 0.1, true);
  check(0, 0.5, 1e-3, 2, 0, false);
}

/// Algorithm 1 of arXiv 1708.03888; `adapts` false: its plain form, for vectors that are left out.
Rule lars(double mu, double trust, double decay, bool adapts) {
  return [=, v = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    v.resize(p.size());
    SHOAL_CHECK(t > 0, "steps count from 1");
    const double local = adapts ? trust * norm(p) / (norm(g) + decay * norm(p)) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      v[i] = mu * v[i] + rate * local * (g[i] + decay * p[i]);
      p[i] -= v[i];
    }
  };
}

TEST_CASE("LARS is You, Gitman and Ginsburg's, tensor by tensor") {
  const auto check = [](double mu, double trust, double decay, bool skips) {
    check_rule(
        "lars",
        {{"momentum", mu}, {"trust", trust}, {"weight_decay", decay}, {"decay_skips", skips}},
        lars(mu, trust, decay, true), lars(mu, trust, skips ? 0 : decay, !skips));
  };
  check(0.9, 0.02, 0.01, false);
  check(0.9, 0.02, 0.01, true);
  check(0, 1, 0, false);
}

/// Algorithm 2 of arXiv 1904.00962 with phi(z) = z.
Rule lamb(double b1, double b2, double epsilon, double decay, bool adapts) {
  return [=, m = Vec(), v = Vec()](std::size_t t, double rate, const Vec& g, Vec& p) mutable {
    m.resize(p.size());
    v.resize(p.size());
    Vec step(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      const double time = static_cast<double>(t);
      step[i] = (m[i] / (1 - std::pow(b1, time))) /
                    (std::sqrt(v[i] / (1 - std::pow(b2, time))) + epsilon) +
                decay * p[i];
    }
    const double ratio = adapts ? norm(p) / norm(step) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] -= rate * ratio * step[i];
    }
  };
}

TEST_CASE("LAMB is You et al.'s, tensor by tensor") {
  const auto check = [](double b1, double b2, double decay, bool skips) {
    check_rule("lamb",
               {{"beta1", b1},
                {"beta2", b2},
                {"epsilon", 1e-6},
                {"weight_decay", decay},
                {"decay_skips", skips}},
               lamb(b1, b2, 1e-6, decay, true), lamb(b1, b2, 1e-6, skips ? 0 : decay, !skips));
  };
  check(0.9, 0.999, 0.01, false);
  check(0.9, 0.999, 0.01, true);
  check(0, 0.9, 0, false);
}

TEST_CASE("a tensor that is zero, or that nothing moves, steps at the plain rate") {
  const auto backend = make_cpu_backend();
  for (const std::string name : {"lars", "lamb"}) {
    const auto* entry = find_optimizer(name).value();
    const auto options = with(*entry, {{"weight_decay", 0.0}});
    const auto optimizer = *make_optimizer(name, options, *backend, tensor_space({{4, 2}}));
    std::vector<float> p(8);
    optimizer->step(optimizer->scalars(0.5, 0), p, std::vector<float>(8));
    CHECK(p == std::vector<float>(8));
    optimizer->step(optimizer->scalars(0.5, 1), p, std::vector<float>(8, 1.0F));
    for (const float value : p) {
      CHECK((std::isfinite(value) && value < 0));
    }
  }
}

TEST_CASE("a space knows the tensors of a map, each once and whole") {
  ParamMap map;
  const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
    Param param;
    param.name = name;
    param.shape = std::move(shape);
    REQUIRE(map.add(param).ok());
  };
  add("bias", {10});
  add("weight", {100, 50});
  add("scale", {3});
  map.seal();
  const FlatSpace whole(map, Ranges(Range{0, map.flat_size()}));
  REQUIRE(whole.tensors().size() == 3);
  CHECK(whole.tensors()[0].begin == 0);
  CHECK(whole.tensors()[0].elements == 5000);
  CHECK_FALSE(whole.tensors()[0].is_vector);
  CHECK(whole.tensors()[1].begin == 8192);
  CHECK(whole.tensors()[1].is_vector);
  CHECK(whole.tensors()[2].begin == 8202);
  // A slice without the large tensor: coordinates are its own.
  const FlatSpace slice(map, Ranges(Range{8202, 8205}));
  REQUIRE(slice.tensors().size() == 1);
  CHECK(slice.tensors()[0].begin == 0);
  CHECK(FlatSpace(Ranges(Range{0, 5})).tensors().empty());
}

}  // namespace
}  // namespace shoal::ops::tests
