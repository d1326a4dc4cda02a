#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "node/data/exact_normal.h"
#include "ops/base/hash.h"
#include "tests/node/data/data_folder.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using node::Split;

std::vector<std::uint32_t> first(std::uint32_t count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

TEST_CASE("synthetic blobs repeat by seed and can be told apart", "[golden]") {
  const auto a = must_open("synthetic", {}, 5);
  const auto b = must_open("synthetic", {}, 5);
  REQUIRE(a->hold_all(Split::kTrain).ok());
  REQUIRE(a->hold_all(Split::kTest).ok());
  REQUIRE(b->hold_all(Split::kTrain).ok());
  const std::size_t features = a->input().shape.elements();
  const auto x = fill(*a, Split::kTrain, first(64)).reals();
  CHECK(x == fill(*b, Split::kTrain, first(64)).reals());
  // The same on every machine; taken on x86-64.
  CHECK(hash_of(std::as_bytes(std::span(x))).hex().substr(0, 16) == "2cd4f37241ccdb23");
  auto tests = fill(*a, Split::kTest, first(64));
  const auto y = tests.reals();
  const auto labels = tests.labels();
  CHECK(x != y);
  // The nearest training sample has the right label, nearly always.
  std::size_t right = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    double best = 1e9;
    std::size_t who = 0;
    for (std::size_t k = 0; k < 64; ++k) {
      double distance = 0;
      for (std::size_t f = 0; f < features; ++f) {
        const double d =
            static_cast<double>(y[i * features + f]) - static_cast<double>(x[k * features + f]);
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        who = k;
      }
    }
    right += labels[i] == static_cast<std::int32_t>(who % 4) ? 1 : 0;
  }
  CHECK(right >= 60);
}

TEST_CASE("exact_normal has the moments of a normal") {
  const std::uint64_t seed = test_seed(3);
  Rng rng(seed, 1);
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  int beyond = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = node::exact_normal(rng);
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
    beyond += std::abs(z) > 1.959963985 ? 1 : 0;
  }
  // Five deviations of each mean: of z 1, of z^2 sqrt(2), of z^4 sqrt(96), of the tail
  // sqrt(0.05 * 0.95), all over sqrt(200000) = 447.
  CHECK(std::abs(sum / kDraws) < 5 / 447.0);
  CHECK(std::abs(squares / kDraws - 1) < 5 * 1.42 / 447);
  CHECK(std::abs(fourth / kDraws - 3) < 5 * 9.8 / 447);
  CHECK(std::abs(beyond / double{kDraws} - 0.05) < 5 * 0.218 / 447);
}

TEST_CASE("synthetic(alpha, beta) is the same on every machine", "[golden]") {
  const auto data = must_open("synthetic-alpha-beta", {}, 7);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  const std::uint32_t samples = std::min(500U, data->size(Split::kTrain));
  auto batch = fill(*data, Split::kTrain, first(samples));
  REQUIRE(batch.status.ok());
  Hasher hasher;
  hasher.add_u64(data->size(Split::kTrain)).add_u64(data->size(Split::kTest));
  const auto all = data->labels(Split::kTrain);
  hasher.add(std::as_bytes(std::span(all)));
  const auto x = batch.reals();
  hasher.add(std::as_bytes(std::span(x)));
  CHECK(hasher.finish().hex() ==
        "6955d1da23220d9523257b25391b25bc"
        "f687856fd19fb3b053e20bf6f0e2b288");
}

TEST_CASE("synthetic(alpha, beta): devices have unlike sizes, and models that differ by alpha") {
  const auto counts_of = [](double alpha, double beta) {
    const auto data = must_open("synthetic-alpha-beta", {{"alpha", alpha}, {"beta", beta}}, 3);
    const auto holders = data->holders();
    const auto labels = data->labels(Split::kTrain);
    REQUIRE(holders.size() == data->size(Split::kTrain));
    std::vector<std::array<std::size_t, 10>> counts(30);
    for (std::size_t i = 0; i < holders.size(); ++i) {
      ++counts.at(holders[i]).at(static_cast<std::size_t>(labels[i]));
    }
    return counts;
  };
  const auto counts = counts_of(1, 1);
  std::set<std::size_t> sizes;
  for (const auto& device : counts) {
    const auto size = std::accumulate(device.begin(), device.end(), std::size_t{0});
    CHECK(size >= 45);  // nine in ten of at least 50
    sizes.insert(size);
  }
  CHECK(sizes.size() > 10);
  CHECK(*sizes.rbegin() > 5 * *sizes.begin());  // log-normal with deviation 2
  const auto data = must_open("synthetic-alpha-beta", {}, 3);
  CHECK(data->input().shape == ops::Shape{60});
  CHECK(data->classes() == 10);
  CHECK(data->size(Split::kTest) * 8 < data->size(Split::kTrain));
  CHECK(data->size(Split::kTest) * 12 > data->size(Split::kTrain));
}

TEST_CASE("synthetic-regression: a linear rule explains all but the noise") {
  const auto data =
      must_open("synthetic-regression", {{"features", std::int64_t{3}}, {"noise", 0.0}}, 2);
  CHECK(data->target() == ops::Port{ops::Shape{1}, false});
  CHECK(data->classes() == 1);
  REQUIRE(data->hold_all(Split::kTrain).ok());
  auto batch = fill(*data, Split::kTrain, first(8));
  REQUIRE(batch.status.ok());
  const auto x = batch.reals();
  const auto y = batch.targets();
  // Weights from the first four samples by elimination; they must fit the other four.
  std::array<std::array<double, 5>, 4> a{};
  for (std::size_t i = 0; i < 4; ++i) {
    a[i] = {1, static_cast<double>(x[3 * i]), static_cast<double>(x[3 * i + 1]),
            static_cast<double>(x[3 * i + 2]), static_cast<double>(y[i])};
  }
  for (std::size_t p = 0; p < 4; ++p) {
    REQUIRE(std::abs(a[p][p]) > 1e-3);
    for (std::size_t i = 0; i < 4; ++i) {
      const double factor = i == p ? 0 : a[i][p] / a[p][p];
      for (std::size_t k = 0; k < 5; ++k) {
        a[i][k] -= factor * a[p][k];
      }
    }
  }
  for (std::size_t i = 4; i < 8; ++i) {
    double predicted = a[0][4] / a[0][0];
    for (std::size_t k = 0; k < 3; ++k) {
      predicted += a[k + 1][4] / a[k + 1][k + 1] * static_cast<double>(x[3 * i + k]);
    }
    // Inputs are rounded to float; elimination with pivots above 1e-3 magnifies that a
    // thousandfold.
    CHECK(predicted == Approx(static_cast<double>(y[i])).margin(1e-3));
  }
}

}  // namespace
}  // namespace shoal::tests
