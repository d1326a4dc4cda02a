#include "ops/kernels/conv.h"

#include <algorithm>
#include <cmath>

#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// The CPU's convolutions against the kernel bodies in float64, over sizes that cut tiles, blocks,
// panels and vectors in odd places, on every vector target.
namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

/// Everything a convolution reads and writes, in T.
template <typename T>
struct Arrays {
  std::vector<T> x, weight, bias, y, dy, dweight, dbias, dx;
  std::vector<std::uint8_t> argmax;
};

ConvSizes random_sizes(Rng& rng, bool with_groups) {
  ConvSizes s{};
  const auto pick = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<std::size_t>(from + rng.below(to - from + 1));
  };
  s.groups = with_groups ? pick(2, 3) : 1;
  s.batch = pick(1, 5);
  s.in = s.groups * pick(1, with_groups ? 2 : 7);
  s.out = s.groups * pick(1, with_groups ? 3 : 70);
  s.kernel = pick(1, 5);
  s.stride = pick(1, 3);
  s.dilation = pick(1, 2);
  s.padding = pick(0, 3);
  s.pool = pick(1, 3);
  const std::size_t least = s.dilation * (s.kernel - 1) + 1 + s.stride * (s.pool - 1);
  s.height = least + pick(0, 12);
  s.width = least + pick(0, 40);
  s.conv_height = (s.height + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
  s.conv_width = (s.width + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
  return s;
}

template <typename T>
Arrays<T> arrays(const ConvSizes& s, std::uint64_t seed) {
  Rng rng(seed, 0);
  const std::size_t results = s.batch * s.out * (s.conv_height / s.pool) * (s.conv_width / s.pool);
  const std::size_t weights = s.out * kernels::conv_depth(s);
  Arrays<T> a;
  // Float32 values in both, so that only the arithmetic differs.
  const auto fill = [&](std::size_t count) {
    const auto values = random_vector<float>(rng, count);
    return std::vector<T>(values.begin(), values.end());
  };
  a.x = fill(s.batch * s.in * s.height * s.width);
  a.weight = fill(weights);
  a.bias = fill(s.out);
  a.dy = fill(results);
  a.y.resize(results);
  a.dweight = fill(weights);
  a.dbias = fill(s.out);
  a.dx.assign(a.x.size(), T(7));
  a.argmax.resize(results);
  return a;
}

template <typename T>
auto flat(std::vector<T>& values) {
  return host_view(values.data(), {static_cast<std::int64_t>(values.size())});
}

template <typename T>
void forward(Backend& backend, const ConvSizes& s, Arrays<T>& a, Activation activation) {
  backend.conv2d(s, flat(a.x), flat(a.weight), flat(a.bias), activation, flat(a.y),
                 s.pool == 1 ? TensorView() : flat(a.argmax));
}

template <typename T>
void backward(Backend& backend, const ConvSizes& s, Arrays<T>& a, Activation activation,
              Into into) {
  ConvBackward pass;
  pass.x = flat(a.x);
  pass.weight = flat(a.weight);
  pass.y = flat(a.y);
  pass.argmax = s.pool == 1 ? TensorView() : flat(a.argmax);
  pass.dy = flat(a.dy);
  pass.activation = activation;
  pass.dweight = flat(a.dweight);
  pass.dbias = flat(a.dbias);
  pass.dx = flat(a.dx);
  pass.into = into;
  backend.conv2d_backward(s, pass);
}

/// A sum of `terms` products of normal numbers in any order is off by at most
/// terms * eps * sum |a b|; |a b| is below 1 in the mean, and 4 for the spread of the sum: eps
/// 6e-8.
void check_close(const std::vector<float>& got, const std::vector<double>& want,
                 std::size_t terms) {
  const auto n = static_cast<double>(terms + 1);
  const double bound = 4 * 6e-8 * n * std::sqrt(n) + 1e-6;
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(std::abs(static_cast<double>(got[i]) - want[i]) <= bound);
  }
}

TEST_CASE("convolutions of any size agree with float64 on every vector target") {
  const auto seed = test_seed(31);
  for_each_target([&] {
    const auto cpu = make_cpu_backend();
    const auto exact = make_reference_backend();
    Rng rng(seed, 1);
    for (int round = 0; round < 24; ++round) {
      const ConvSizes s = random_sizes(rng, round % 4 == 3);
      const auto activation = round % 2 == 0 ? Activation::kRelu : Activation::kNone;
      const auto into = round % 3 == 0 ? Into::kAdd : Into::kReplace;
      INFO("round " << round << " of seed " << seed);
      auto a = arrays<float>(s, seed + static_cast<std::uint64_t>(round));
      auto b = arrays<double>(s, seed + static_cast<std::uint64_t>(round));
      forward(*cpu, s, a, activation);
      forward(*exact, s, b, activation);
      const std::size_t depth = kernels::conv_depth(s);
      check_close(a.y, b.y, depth);
      // Near-equal rivals may win differently: both sides go back by the same choice.
      a.argmax = b.argmax;
      a.y.assign(b.y.begin(), b.y.end());
      backward(*cpu, s, a, activation, into);
      backward(*exact, s, b, activation, into);
      const std::size_t places = s.batch * kernels::conv_places(s);
      check_close(a.dweight, b.dweight, places);
      check_close(a.dbias, b.dbias, places);
      check_close(a.dx, b.dx, s.out / s.groups * s.kernel * s.kernel);
    }
  });
}

TEST_CASE("a window with NaN gives NaN, not the largest of the rest") {
  for (const auto& backend : {make_cpu_backend(), make_reference_backend()}) {
    ConvSizes s{};
    s.batch = s.in = s.out = s.kernel = s.stride = s.dilation = s.groups = 1;
    s.height = s.conv_height = 2;
    s.width = s.conv_width = 4;
    s.pool = 2;
    const auto run = [&](auto nan) {
      using T = decltype(nan);
      std::vector<T> x{1, 2, 3, 4, 5, nan, 7, 6};
      std::vector<T> weight{1};
      std::vector<T> y(2);
      std::vector<std::uint8_t> argmax(2);
      backend->conv2d(s, flat(x), flat(weight), {}, Activation::kRelu, flat(y), flat(argmax));
      CHECK(std::isnan(y[0]));
      CHECK(y[1] == T(7));
      CHECK(argmax == std::vector<std::uint8_t>{3, 2});
    };
    if (backend->real() == DType::kF64) {
      run(std::nan(""));
    } else {
      run(std::nanf(""));
    }
  }
}

}  // namespace
}  // namespace shoal::ops::tests
