#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/optim/optimizer.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/optimizers.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;
using Values = std::vector<std::pair<std::string, OptionValue>>;

FlatSpace space(std::size_t n) { return FlatSpace(Ranges(Range{0, n})); }

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
    // Any corrections serve; those of scalars() take libm's pow.
    const auto t = static_cast<double>(step + 1);
    optimizer->step({0.05, 0.09 * t, 0.03 * t}, p, g);
  }
  return hash_of(std::as_bytes(std::span(p))).hex().substr(0, 16);
}

TEST_CASE("ten steps on given numbers give the same bits on every machine", "[golden]") {
  // The hashes were taken on x86-64; ./setup.sh arm64 runs this under qemu-aarch64.
  std::string found;
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    found += entry.name + " " + hash_after_ten_steps(entry, options) + "\n";
  });
  CHECK(found == R"(sgd 33f2374e7d6e2818
sgd 28123f71153d6cd7
sgd b0d7a6b5053afcd8
sgd 90ce5f05be68830d
sgd 1bf692679500eb66
adamw 54c1d9f458099c48
adamw 4f99e231d8adac15
adamw 3286631a9aa5c10a
adamw e243f79a34fd9631
adagrad 5904d381cbbcc9d7
adagrad 056669416f933929
adagrad d6ab03b19f42a6c0
yogi 84c384bb5289ab22
yogi 9e902b4e32faaff7
yogi 0b300d546cc664cb
lars 15cbfdff9cf5a604
lars d3ab39087521365a
lars 00b84b313d5238df
lamb d6a0ed0b8fd96dec
lamb 36737978e2e752dc
lamb 3fa6d7919863b52a
)");
}

TEST_CASE("pieces of the flat space give what the whole gives") {
  const auto backend = make_cpu_backend();
  for_each_optimizer([&](const OptimizerEntry& entry, const Options& options) {
    constexpr std::size_t kCount = 100;
    // Rules by tensors take whole ones, so the pieces are cut between tensors.
    const auto tensors = tensor_space({{3}, {37, 1}, {37}, {1}, {2, 11}});
    REQUIRE(tensors.size() == kCount);
    const auto whole = *make_optimizer(entry.name, options, *backend, tensors);
    const auto pieces = *make_optimizer(entry.name, options, *backend, tensors);
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

    ByteWriter before;
    second->save(before);
    for (std::size_t size = 0; size < out.size(); ++size) {
      ByteReader cut(out.span().first(size));
      REQUIRE_FALSE(second->load(cut).ok());
    }
    ByteWriter after;  // nothing of what was refused was taken
    second->save(after);
    CHECK(std::equal(after.span().begin(), after.span().end(), before.span().begin(),
                     before.span().end()));
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
