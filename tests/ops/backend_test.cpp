#include "ops/backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/ops/support/targets.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::ops::tests {
namespace {

using shoal::tests::test_seed;

Shape vector_shape(std::size_t n) { return {static_cast<std::int64_t>(n)}; }
Shape matrix_shape(std::size_t r, std::size_t c) {
  return {static_cast<std::int64_t>(r), static_cast<std::int64_t>(c)};
}

/// Numbers, with what is special among them.
std::vector<float> mixed(Rng& rng, std::size_t count) {
  auto values = random_vector<float>(rng, count);
  const float special[] = {0.0F, -0.0F, 1e-40F, -1e-40F, std::numeric_limits<float>::infinity(),
                           1e30F};
  for (std::size_t i = 0; i < count; i += 7) {
    values[i] = special[i % std::size(special)];
  }
  return values;
}

using Operation = std::function<void(Backend&, std::vector<float>&, std::vector<float>&,
                                     std::vector<float>&, std::size_t, std::size_t)>;

/// a [rows, cols], b [rows, cols], c [cols] before and after an operation on both backends.
void check_equal_bits(const Operation& operation) {
  const auto bodies = std::make_unique<HostBackend<float>>();
  const auto cpu = make_cpu_backend();
  Rng rng(test_seed(11), 0);
  for (const std::size_t rows : {0U, 1U, 3U, 16U}) {
    for (const std::size_t cols : {1U, 2U, 7U, 15U, 16U, 17U, 63U, 64U, 65U, 200U}) {
      const auto a = mixed(rng, rows * cols);
      const auto b = random_vector<float>(rng, rows * cols);
      const auto c = random_vector<float>(rng, cols);
      auto a1 = a, a2 = a, b1 = b, b2 = b, c1 = c, c2 = c;
      operation(*bodies, a1, b1, c1, rows, cols);
      operation(*cpu, a2, b2, c2, rows, cols);
      INFO(rows << " x " << cols);
      const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
        return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
      };
      REQUIRE(same(a1, a2));
      REQUIRE(same(b1, b2));
      REQUIRE(same(c1, c2));
    }
  }
}

constexpr Activation kActivations[] = {Activation::kNone,     Activation::kRelu, Activation::kGelu,
                                       Activation::kGeluTanh, Activation::kSilu, Activation::kTanh,
                                       Activation::kSigmoid,  Activation::kSlope};

TEST_CASE("the CPU's loops equal the kernel bodies to the bit on every vector target") {
  for_each_target([] {
    for (const auto activation : kActivations) {
      check_equal_bits([&](Backend& backend, auto& a, auto& b, auto& c, auto rows, auto cols) {
        const auto shape = matrix_shape(rows, cols);
        backend.bias_activation(host_view(a.data(), shape), host_view(c.data(), vector_shape(cols)),
                                activation);
        backend.bias_activation(host_view(a.data(), shape), {}, activation);
        backend.bias_activation(host_view(a.data(), shape), host_view(c.data(), vector_shape(cols)),
                                host_view(b.data(), shape), activation);
      });
      for (const auto into : {Into::kReplace, Into::kAdd}) {
        check_equal_bits([&](Backend& backend, auto& a, auto& b, auto& c, auto rows, auto cols) {
          const auto shape = matrix_shape(rows, cols);
          backend.bias_activation_backward(host_view(a.data(), shape), host_view(b.data(), shape),
                                           host_view(c.data(), vector_shape(cols)), activation,
                                           into);
          backend.bias_activation_backward(host_view(a.data(), shape), host_view(b.data(), shape),
                                           {}, activation, into);
        });
      }
    }
    for (const auto activation : kActivations) {
      check_equal_bits([&](Backend& backend, auto& a, auto& b, auto&, auto rows, auto cols) {
        const auto shape = vector_shape(rows * cols);
        backend.add(host_view(a.data(), shape), host_view(b.data(), shape),
                    host_view(a.data(), shape), activation);
        backend.copy(host_view(a.data(), shape), host_view(b.data(), shape));
        backend.activate(host_view(b.data(), shape), host_view(a.data(), shape), activation);
      });
    }
    check_equal_bits([](Backend& backend, auto& a, auto& b, auto&, auto rows, auto cols) {
      const auto shape = vector_shape(rows * cols);
      backend.add_scaled(host_view(b.data(), shape), 0.3, host_view(a.data(), shape));
      backend.scale(host_view(a.data(), shape), -1.7);
    });
  });
}

TEST_CASE("nothing fuses a product with a sum") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last term is lost by rounding once and kept by a
  // fused multiply-add: the difference to 1 + 2^-11 is 0 or 2^-24.
  const float x = 1.0F + std::ldexp(1.0F, -12);
  const float y = -(1.0F + std::ldexp(1.0F, -11));
  const auto check = [&](Backend& backend) {
    std::vector<float> xs(65, x);
    std::vector<float> ys(65, y);
    const auto shape = vector_shape(65);
    backend.add_scaled(host_view(ys.data(), shape), static_cast<double>(x),
                       host_view(xs.data(), shape));
    CHECK(ys == std::vector<float>(65, 0.0F));
    std::vector<float> p(65, -y);
    UpdateStep step;
    step.parameters = host_view(p.data(), shape);
    step.gradients = host_view(std::as_const(xs).data(), shape);
    step.numbers.rate = static_cast<double>(x);
    backend.update(step);
    CHECK(p == std::vector<float>(65, 0.0F));
  };
  HostBackend<float> bodies;
  check(bodies);
  const auto cpu = make_cpu_backend();
  for_each_target([&] { check(*cpu); });
}

TEST_CASE("products agree with float64, transposed, folded, added, of any size") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  Rng rng(test_seed(12), 0);
  const std::size_t sizes[] = {0, 1, 2, 7, 33};
  for (const auto op_a : {Transpose::kNo, Transpose::kYes}) {
    for (const auto op_b : {Transpose::kNo, Transpose::kYes}) {
      for (int round = 0; round < 40; ++round) {
        const auto m = sizes[rng.below(5)], n = sizes[rng.below(5)], k = sizes[rng.below(5)];
        const auto a = random_vector<float>(rng, m * k);
        const auto b = random_vector<float>(rng, k * n);
        const bool add = round % 2 == 1;
        // What is replaced may be anything, NaN too.
        std::vector<float> c(m * n, add ? 1.0F : std::numeric_limits<float>::quiet_NaN());
        std::vector<double> a64(a.begin(), a.end()), b64(b.begin(), b.end()), c64(m * n, 1.0);
        const auto into = add ? Into::kAdd : Into::kReplace;
        const auto shape_a = op_a == Transpose::kNo ? matrix_shape(m, k) : matrix_shape(k, m);
        const auto shape_b = op_b == Transpose::kNo ? matrix_shape(k, n) : matrix_shape(n, k);
        cpu->gemm(host_view(a.data(), shape_a), op_a, host_view(b.data(), shape_b), op_b,
                  host_view(c.data(), matrix_shape(m, n)), into);
        exact->gemm(host_view(a64.data(), shape_a), op_a, host_view(b64.data(), shape_b), op_b,
                    host_view(c64.data(), matrix_shape(m, n)), into);
        // A sum of k + 1 terms in any order is off by at most (k + 1) eps sum|terms|; terms below
        // 25 (5 sigma squared), eps = 6e-8.
        const double bound = static_cast<double>(k + 1) * static_cast<double>(k + 1) * 25 * 6e-8;
        for (std::size_t i = 0; i < c.size(); ++i) {
          REQUIRE(std::abs(static_cast<double>(c[i]) - c64[i]) <= bound);
        }
      }
    }
  }
}

TEST_CASE("memory is zeroed, aligned, and refused in words when there is none") {
  const auto cpu = make_cpu_backend();
  for (const std::size_t size : {std::size_t{1000}, std::size_t{5} << 20U}) {
    const auto memory = cpu->allocate(size);
    REQUIRE(memory.ok());
    // Whole large pages, where there is one.
    const std::size_t alignment = size < 2U << 20U ? 64 : 2U << 20U;
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % alignment == 0);
    const auto* bytes = static_cast<const unsigned char*>(memory->data());
    CHECK(std::all_of(bytes, bytes + size, [](unsigned char b) { return b == 0; }));
  }
  const auto refused = cpu->allocate(std::size_t{1} << 60U);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kDevice);
  CHECK(exit_code(refused.error().code) == 5);
}

/// What a linear layer with a GELU gives, forward and back, on one backend.
template <typename T>
struct LinearRun {
  std::vector<T> y, slope, dx, dweight, dbias;

  LinearRun(Backend& backend, const std::vector<T>& x, const std::vector<T>& weight,
            const std::vector<T>& bias, std::vector<T> dy, Into into)
      : y(dy.size()), slope(dy.size()), dx(x.size()), dweight(weight), dbias(bias) {
    const std::size_t wide = bias.size();
    const Shape in = matrix_shape(dy.size() / wide, weight.size() / wide);
    const Shape out = matrix_shape(dy.size() / wide, wide);
    const Shape of_weight = matrix_shape(wide, weight.size() / wide);
    const auto kept = host_view(slope.data(), out);
    const auto w = host_view(weight.data(), of_weight);
    const auto x_view = host_view(x.data(), in);
    backend.linear({x_view, w, host_view(bias.data(), vector_shape(wide)), kept,
                    host_view(y.data(), out), Activation::kGelu});
    backend.linear_backward({x_view, w, kept, host_view(dy.data(), out), host_view(dx.data(), in),
                             host_view(dweight.data(), of_weight),
                             host_view(dbias.data(), vector_shape(wide)), Activation::kSlope,
                             into});
  }
};

TEST_CASE("a linear layer over more rows than a cache holds agrees with float64") {
  const auto cpu = make_cpu_backend();
  const auto exact = make_reference_backend();
  const auto wider = [](const std::vector<float>& x) {
    return std::vector<double>(x.begin(), x.end());
  };
  for (const std::size_t rows : {1U, 121U, 256U, 600U}) {
    Rng rng(test_seed(12), rows);
    const auto x = random_vector<float>(rng, rows * 20);
    const auto weight = random_vector<float>(rng, 33 * 20);
    const auto bias = random_vector<float>(rng, 33);
    const auto dy = random_vector<float>(rng, rows * 33);
    for (const auto into : {Into::kReplace, Into::kAdd}) {
      const LinearRun<double> expected(*exact, wider(x), wider(weight), wider(bias), wider(dy),
                                       into);
      for_each_target([&] {
        const LinearRun<float> got(*cpu, x, weight, bias, dy, into);
        INFO(rows << " rows");
        const auto near = [](const std::vector<float>& a, const std::vector<double>& b) {
          return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float f, double d) {
            return std::abs(static_cast<double>(f) - d) <= 1e-3;
          });
        };
        // Sums of at most 600 products below 30 with eps = 6e-8: 600 * 30 * 6e-8 = 1e-3.
        CHECK(near(got.y, expected.y));
        CHECK(near(got.slope, expected.slope));
        CHECK(near(got.dx, expected.dx));
        CHECK(near(got.dweight, expected.dweight));
        CHECK(near(got.dbias, expected.dbias));
      });
    }
  }
}

TEST_CASE("a device is chosen, and the reason said") {
  const auto chosen = choose_backend("auto");
  REQUIRE(chosen.ok());
  CHECK_FALSE(chosen->reason.empty());
  CHECK_FALSE(chosen->backend->description().empty());
  const auto cuda = choose_backend("cuda");
  if (cuda.ok()) {
    CHECK(chosen->backend->device() == DeviceKind::kCuda);
  } else {
    CHECK(cuda.error().code == Code::kDevice);
    CHECK(cuda.error().message.find("CUDA") != std::string::npos);
    CHECK(chosen->backend->device() == DeviceKind::kCpu);
    CHECK(chosen->reason == cuda.error().message);
  }
  CHECK(choose_backend("cpu")->backend->real() == DType::kF32);
  CHECK(choose_backend("reference")->backend->real() == DType::kF64);
  const auto unknown = choose_backend("gpu");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == Code::kConfig);
}

}  // namespace
}  // namespace shoal::ops::tests
