#include <cmath>
#include <cstring>

#include "ops/optim/optimizer.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;
using Values = std::vector<std::pair<std::string, OptionValue>>;

FlatSpace space(std::size_t n) { return FlatSpace(Ranges(Range{0, n})); }

Options with(const OptimizerEntry& entry, const Values& values) {
  Options options = Options::defaults(entry.options);
  for (const auto& [name, value] : values) {
    options.set(name, value);
  }
  return options;
}

/// Calls `check(entry, options)` for the whole registry, defaults first.
template <typename Check>
void for_each_optimizer(const Check& check) {
  for (const auto& entry : optimizer_registry()) {
    check(entry, Options::defaults(entry.options));
    for (const auto& example : entry.examples) {
      check(entry, with(entry, example));
    }
  }
}

/// Some steps with gradients from `rng`; the rates differ from step to step.
void run(Optimizer& optimizer, std::vector<float>& p, Rng rng, int steps, int first = 0) {
  for (int i = 0; i < first + steps; ++i) {
    const auto g = random_vector<float>(rng, p.size());
    if (i >= first) {
      const auto step = static_cast<std::uint64_t>(i);
      optimizer.step(optimizer.scalars(0.1 / (i + 1), step), p, g);
    }
  }
}

TEST_CASE("SGD follows the rule as the paper and PyTorch write it") {
  const auto backend = make_reference_backend();
  constexpr std::size_t kCount = 37;
  for (const auto& values : optimizer_registry()[0].examples) {
    const auto options = with(*find_optimizer("sgd").value(), values);
    const double mu = options.get_float("momentum");
    const double decay = options.get_float("weight_decay");
    const bool nesterov = options.get_bool("nesterov");
    const auto optimizer = *make_optimizer("sgd", options, *backend, space(kCount));
    Rng rng(test_seed(14), 0);
    auto p = random_vector<double>(rng, kCount);
    auto expected = p;
    std::vector<double> buffer(kCount);
    for (int step = 0; step < 20; ++step) {
      const double lr = 0.1 / (1 + step);
      const auto g = random_vector<double>(rng, kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        const double grad = g[i] + decay * expected[i];
        buffer[i] = step == 0 ? grad : mu * buffer[i] + grad;
        const double direction = nesterov ? grad + mu * buffer[i] : buffer[i];
        expected[i] -= lr * (mu == 0 ? grad : direction);
      }
      const Shape shape{kCount};
      optimizer->step(optimizer->scalars(lr, static_cast<std::uint64_t>(step)),
                      Ranges(Range{0, kCount}), host_view(p.data(), shape),
                      host_view(g.data(), shape));
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      CHECK(p[i] == Approx(expected[i]).epsilon(1e-13));  // 20 steps of a few roundings of 1e-16
    }
  }
}

TEST_CASE("two steps by hand") {
  const auto backend = make_cpu_backend();
  const auto options =
      with(*find_optimizer("sgd").value(), {{"momentum", 0.5}, {"nesterov", true}});
  const auto optimizer = *make_optimizer("sgd", options, *backend, space(1));
  std::vector<float> p = {1};
  optimizer->step({0.5, 1, 1}, p, std::vector<float>{1});  // m = 1, direction 1.5
  CHECK(p[0] == 0.25F);
  optimizer->step({1, 1, 1}, p, std::vector<float>{-1});  // m = -0.5, direction -1.25
  CHECK(p[0] == 1.5F);
}

/// Hash of parameters after ten steps on numbers that need no generator.
std::string hash_after_ten_steps(const OptimizerEntry& entry, const Options& options) {
  const auto backend = make_cpu_backend();
  const auto optimizer = *make_optimizer(entry.name, options, *backend, space(1000));
  std::vector<float> p(1000);
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = static_cast<float>(i % 17) * 0.37F - 2.0F;
  }
  for (std::uint64_t step = 0; step < 10; ++step) {
    std::vector<float> g(p.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = static_cast<float>((i * 31 + step * 7) % 101) * 0.013F - 0.6F;
    }
    optimizer->step(optimizer->scalars(0.05, step), p, g);
  }
  return hash_of(std::as_bytes(std::span(p))).hex().substr(0, 16);
}

TEST_CASE("ten steps on given numbers give the same bits on every machine", "[golden]") {
  // The hashes were taken on x86-64; ./setup.sh arm64 runs this under qemu-aarch64.
  const auto* sgd = find_optimizer("sgd").value();
  std::vector<std::string> hashes = {hash_after_ten_steps(*sgd, Options::defaults(sgd->options))};
  for (const auto& example : sgd->examples) {
    hashes.push_back(hash_after_ten_steps(*sgd, with(*sgd, example)));
  }
  CHECK(hashes == std::vector<std::string>{"33f2374e7d6e2818", "28123f71153d6cd7",
                                           "b0d7a6b5053afcd8", "90ce5f05be68830d",
                                           "1bf692679500eb66"});
}

TEST_CASE("pieces of the flat space give what the whole gives") {
  const auto backend = make_cpu_backend();
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    constexpr std::size_t kCount = 100;
    const auto whole = *make_optimizer(entry.name, options, *backend, space(kCount));
    const auto pieces = *make_optimizer(entry.name, options, *backend, space(kCount));
    Rng rng(test_seed(15), 0);
    auto p = random_vector<float>(rng, kCount);
    auto q = p;
    const Shape shape{kCount};
    Ranges odd;
    odd.add({3, 40});
    odd.add({77, 78});
    Ranges rest(Range{0, kCount});
    rest.remove({3, 40});
    rest.remove({77, 78});
    for (std::uint64_t step = 0; step < 5; ++step) {
      const auto g = random_vector<float>(rng, kCount);
      whole->step(whole->scalars(0.1, step), p, g);
      for (const auto& part : {rest, odd}) {
        pieces->step(pieces->scalars(0.1, step), part, host_view(q.data(), shape),
                     host_view(g.data(), shape));
      }
    }
    CHECK(p == q);
  });
}

TEST_CASE("the CPU gives the bits of the bodies that run on CUDA") {
  const auto cpu = make_cpu_backend();
  const auto bodies = std::make_unique<HostBackend<float>>();
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    const auto fast = *make_optimizer(entry.name, options, *cpu, space(133));
    const auto plain = *make_optimizer(entry.name, options, *bodies, space(133));
    std::vector<float> p(133, 1.0F);
    auto q = p;
    run(*fast, p, Rng(test_seed(16), 0), 10);
    run(*plain, q, Rng(test_seed(16), 0), 10);
    CHECK(p == q);
    CHECK(p != std::vector<float>(133, 1.0F));
  });
}

TEST_CASE("state is saved and loaded to the bit, and short or foreign state refused") {
  const auto backend = make_cpu_backend();
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    const auto first = *make_optimizer(entry.name, options, *backend, space(50));
    CHECK(first->state().size() == entry.state_reals(options));
    std::vector<float> p(50, 0.5F);
    run(*first, p, Rng(3, 3), 4);
    ByteWriter out;
    first->save(out);
    const auto second = *make_optimizer(entry.name, options, *backend, space(50));
    ByteReader in(out.span());
    REQUIRE(second->load(in).ok());
    CHECK(in.left() == 0);
    auto q = p;
    run(*first, p, Rng(3, 3), 4, 4);
    run(*second, q, Rng(3, 3), 4, 4);
    CHECK(p == q);

    for (std::size_t size = 0; size < out.size(); ++size) {
      ByteReader cut(out.span().first(size));
      REQUIRE_FALSE(second->load(cut).ok());
    }
    if (entry.state_reals(options) > 0) {
      const auto smaller = *make_optimizer(entry.name, options, *backend, space(49));
      ByteReader whole(out.span());
      CHECK_FALSE(smaller->load(whole).ok());

      std::vector<float> a(50, 0.5F), b(50, 0.5F);
      first->reset();
      const auto fresh = *make_optimizer(entry.name, options, *backend, space(50));
      run(*first, a, Rng(4, 4), 3);
      run(*fresh, b, Rng(4, 4), 3);
      CHECK(a == b);
    }
  });
}

TEST_CASE("padding stays zero") {
  const auto backend = make_cpu_backend();
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    const auto optimizer = *make_optimizer(entry.name, options, *backend, space(8));
    std::vector<float> p(8);
    for (std::uint64_t step = 0; step < 3; ++step) {
      optimizer->step(optimizer->scalars(0.1, step), p, std::vector<float>(8));
    }
    CHECK(p == std::vector<float>(8));
  });
}

TEST_CASE("options that exclude each other and unknown names are refused") {
  const auto backend = make_cpu_backend();
  const auto options =
      with(*find_optimizer("sgd").value(), {{"momentum", 0.0}, {"nesterov", true}});
  const auto refused = make_optimizer("sgd", options, *backend, space(1));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kConfig);
  CHECK_FALSE(find_optimizer("sdg").ok());
}

}  // namespace
}  // namespace shoal::ops::tests
