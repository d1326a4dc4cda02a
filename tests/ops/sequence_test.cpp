#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/backend.h"
#include "ops/cpu/recurrent.h"
#include "ops/kernels/recurrent.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// Operations over sequences beyond what every layer's test sees: longer than a tile, on every
// vector target, to the bit where that is promised.
namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

std::vector<double> wide(const std::vector<float>& x) { return {x.begin(), x.end()}; }

void check_near(const std::vector<float>& got, const std::vector<double>& exact, double bound) {
  REQUIRE(got.size() == exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(std::abs(static_cast<double>(got[i]) - exact[i]) <= bound);
  }
}

/// Attention, forward and back, of one backend.
template <typename T>
struct Attended {
  std::vector<T> y;
  std::vector<T> log_sums;
  std::vector<T> dqkv;

  Attended(Backend& backend, std::vector<T> qkv, std::vector<T> dy, std::int64_t batch,
           std::int64_t length, std::int64_t heads)
      : y(dy.size()), log_sums(static_cast<std::size_t>(batch * heads * length)), dqkv(qkv.size()) {
    const auto width = static_cast<std::int64_t>(dy.size()) / (batch * length);
    const Shape shape = {batch, length, width};
    const Shape triple = {batch, length, 3 * width};
    const auto n = static_cast<std::size_t>(heads);
    const auto sums = host_view(log_sums.data(), {batch, heads, length});
    backend.attention(host_view(qkv.data(), triple), n, host_view(y.data(), shape), sums);
    backend.attention_backward(host_view(qkv.data(), triple), n, host_view(y.data(), shape), sums,
                               host_view(dy.data(), shape), host_view(dqkv.data(), triple));
  }
};

TEST_CASE("attention over several tiles agrees with float64 on every vector target") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  for (const std::int64_t length : {1, 17, 64, 65, 130}) {
    Rng rng(test_seed(40), static_cast<std::uint64_t>(length));
    const std::int64_t heads = 2;
    const std::int64_t width = 10;
    const auto count = static_cast<std::size_t>(2 * length * width);
    const auto qkv = random_vector<float>(rng, 3 * count);
    const auto dy = random_vector<float>(rng, count);
    const Attended<double> expected(*exact, wide(qkv), wide(dy), 2, length, heads);
    INFO("length " << length);
    for_each_target([&] {
      const Attended<float> got(*cpu, qkv, dy, 2, length, heads);
      // A row of at most 130 weights that add to 1, each off by 3e-7 of itself (exp, scores of 5
      // terms below 25), times values below 5; gradients are sums of 130 such.
      check_near(got.y, expected.y, 1e-4);
      check_near(got.log_sums, expected.log_sums, 1e-4);
      check_near(got.dqkv, expected.dqkv, 1e-3);
    });
  }
}

TEST_CASE("a place sees nothing that comes after it") {
  const auto cpu = make_cpu_backend();
  Rng rng(test_seed(41), 0);
  const std::int64_t length = 70;
  auto qkv = random_vector<float>(rng, 70 * 12);
  const auto dy = random_vector<float>(rng, 70 * 4);
  const Attended<float> before(*cpu, qkv, dy, 1, length, 2);
  for (std::size_t i = 66 * 12; i < qkv.size(); ++i) {
    qkv[i] += 1;
  }
  const Attended<float> after(*cpu, qkv, dy, 1, length, 2);
  CHECK(std::equal(before.y.begin(), before.y.begin() + 66 * 4, after.y.begin()));
  CHECK_FALSE(std::equal(before.y.begin() + 66 * 4, before.y.end(), after.y.begin() + 66 * 4));
}

TEST_CASE("scores beyond the range of exp do no harm") {
  const auto cpu = make_cpu_backend();
  // Place 1 finds place 0's key 1e4 better than its own, place 2 the other way round.
  const std::vector<float> qkv = {0, 100, 1, 100, 0, 2, -100, 0, 3};
  const Attended<float> got(*cpu, qkv, {1, 1, 1}, 1, 3, 1);
  CHECK(got.y[0] == 1.0F);
  CHECK(got.y[1] == 1.0F);
  CHECK(got.y[2] == Approx(2.5F));  // keys 0 of places 1 and 2 are equal, that of 0 far below
  CHECK(std::all_of(got.dqkv.begin(), got.dqkv.end(), [](float d) { return std::isfinite(d); }));
}

template <typename Cell>
bool same_cells(const Cell& body, const Cell& lanes, std::size_t count,
                const std::vector<std::vector<float>*>& a,
                const std::vector<std::vector<float>*>& b) {
  kernels::for_each_index(count, body);
  cpu::run_cells(count, lanes);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(a[i]->data(), b[i]->data(), a[i]->size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

TEST_CASE("recurrent cells equal the bodies to the bit on every vector target") {
  for_each_target([] {
    Rng rng(test_seed(42), 0);
    for (const std::size_t hidden : {1U, 5U, 16U, 35U}) {
      for (const std::size_t step : {0U, 1U, 2U}) {
        const std::size_t units = 2 * hidden;
        const std::size_t states = 3 * units;
        auto g = random_vector<float>(rng, 4 * states), g2 = g;
        auto h = random_vector<float>(rng, states), h2 = h;
        auto c = random_vector<float>(rng, states), c2 = c;
        auto d = random_vector<float>(rng, 4 * states), d2 = d;
        auto e = random_vector<float>(rng, 4 * states), e2 = e;
        auto p = random_vector<float>(rng, units), p2 = p;
        auto q = random_vector<float>(rng, units), q2 = q;
        const auto b = random_vector<float>(rng, 4 * hidden);
        const auto r = random_vector<float>(rng, 3 * units);
        const kernels::CellBias<float> bias{b.data(), b.data()};
        using namespace kernels;
        CHECK(same_cells(LstmCell<float>{g.data(), bias, h.data(), c.data(), 3, hidden, step},
                         LstmCell<float>{g2.data(), bias, h2.data(), c2.data(), 3, hidden, step},
                         units, {&g, &h, &c}, {&g2, &h2, &c2}));
        CHECK(same_cells(LstmCellBackward<float>{g.data(), c.data(), h.data(), d.data(), p.data(),
                                                 q.data(), 3, hidden, step},
                         LstmCellBackward<float>{g.data(), c.data(), h.data(), d2.data(), p2.data(),
                                                 q2.data(), 3, hidden, step},
                         units, {&d, &p, &q}, {&d2, &p2, &q2}));
        CHECK(same_cells(
            GruCell<float>{g.data(), bias, r.data(), h.data(), c.data(), 3, hidden, step},
            GruCell<float>{g2.data(), bias, r.data(), h2.data(), c2.data(), 3, hidden, step}, units,
            {&g, &h, &c}, {&g2, &h2, &c2}));
        CHECK(same_cells(GruCellBackward<float>{g.data(), h.data(), c.data(), h.data(), d.data(),
                                                e.data(), p.data(), q.data(), 3, hidden, step},
                         GruCellBackward<float>{g.data(), h.data(), c.data(), h.data(), d2.data(),
                                                e2.data(), p2.data(), q2.data(), 3, hidden, step},
                         units, {&d, &e, &q}, {&d2, &e2, &q2}));
      }
    }
  });
}

TEST_CASE("what dropout leaves depends on place and stream alone, the same on every backend") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  const std::size_t count = 40003;  // no multiple of the four words of a block
  const auto shape = Shape{static_cast<std::int64_t>(count)};
  const std::vector<float> ones(count, 1.0F);
  const auto ones64 = wide(ones);
  std::vector<float> y(count);
  std::vector<double> y64(count);
  const Dropout mask{7, 11, 0.25};
  cpu->dropout(host_view(ones.data(), shape), host_view(y.data(), shape), mask);
  exact->dropout(host_view(ones64.data(), shape), host_view(y64.data(), shape), mask);
  std::size_t dropped = 0;
  Rng rng(7, 11);
  for (std::size_t i = 0; i < count; ++i) {
    const bool out = rng.next_u32() < 0x40000000U;
    REQUIRE((y[i] == 0) == out);
    REQUIRE((y64[i] == 0) == out);
    REQUIRE((out || y[i] == 1.0F / 0.75F));
    dropped += out ? 1 : 0;
  }
  // Five standard deviations of a binomial.
  CHECK(std::abs(static_cast<double>(dropped) - 0.25 * static_cast<double>(count)) <
        5 * std::sqrt(static_cast<double>(count) * 0.1875));
  auto in_place = ones;
  cpu->dropout(host_view(in_place.data(), shape), host_view(in_place.data(), shape), mask);
  CHECK(in_place == y);
  cpu->dropout(host_view(ones.data(), shape), host_view(in_place.data(), shape), {7, 12, 0.25});
  CHECK(in_place != y);
}

TEST_CASE("gradients of one token are added in the order of its places, to the bit") {
  const auto cpu = make_cpu_backend();
  HostBackend<float> bodies;
  Rng rng(test_seed(43), 0);
  std::vector<std::int32_t> tokens(50);
  for (auto& token : tokens) {
    token = static_cast<std::int32_t>(rng.below(3));
  }
  const auto dy = random_vector<float>(rng, 50 * 19);
  const auto start = random_vector<float>(rng, 4 * 19);
  for (const auto into : {Into::kReplace, Into::kAdd}) {
    auto a = start;
    auto b = start;
    for (auto& [backend, out] :
         {std::pair<Backend*, std::vector<float>*>{cpu.get(), &a}, {&bodies, &b}}) {
      backend->embed_backward(host_view(tokens.data(), {50}), host_view(dy.data(), {50, 19}),
                              host_view(out->data(), {4, 19}), into);
    }
    CHECK(a == b);
    CHECK((into == Into::kAdd || a[3 * 19] == 0));  // no token 3: its row is put too
  }
}

}  // namespace
}  // namespace shoal::ops::tests
