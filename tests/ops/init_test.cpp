#include "ops/init.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/base/hash.h"
#include "ops/layer.h"
#include "tests/support/catch.h"

namespace shoal::ops {
namespace {

std::vector<float> filled(std::string_view name, std::uint64_t seed, std::size_t count) {
  std::vector<float> values(count);
  initialize(name, Init::kaiming_uniform(100), seed, values);
  return values;
}

TEST_CASE("Kaiming-uniform has PyTorch's bound and fills it") {
  const auto values = filled("fc1.weight", 1, 10000);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  // 1/sqrt(100); none of 10,000 uniform draws within 1 % of an end has probability e^-50.
  CHECK(*low >= -0.1F);
  CHECK(*high < 0.1F);
  CHECK(*low < -0.099F);
  CHECK(*high > 0.099F);
  double mean = 0;
  for (const float v : values) {
    mean += static_cast<double>(v) / 10000;
  }
  CHECK(std::abs(mean) < 5 * 0.1 / std::sqrt(3.0) / 100);  // five standard errors
}

TEST_CASE("a tensor's start depends on seed and name alone, and is the same on every machine",
          "[golden]") {
  CHECK(filled("a", 1, 50) == filled("a", 1, 50));
  CHECK(filled("a", 1, 50) != filled("a", 2, 50));
  CHECK(filled("a", 1, 50) != filled("b", 1, 50));
  const auto values = filled("fc1.weight", 42, 1000);
  // Taken on x86-64; ./setup.sh arm64 runs this under qemu-aarch64.
  CHECK(hash_of(std::as_bytes(std::span(values))).hex().substr(0, 16) == "06e60d630197cb30");
}

TEST_CASE("a normal start has its deviation, ends at six of them, and is the same everywhere",
          "[golden]") {
  std::vector<float> values(100000);
  initialize("wte.weight", Init::normal(0.02), 3, values);
  double mean = 0;
  double square = 0;
  for (const float v : values) {
    mean += static_cast<double>(v) / 1e5;
    square += static_cast<double>(v) * static_cast<double>(v) / 1e5;
  }
  // Five standard errors: of the mean s / sqrt(n), of the variance s^2 sqrt(1.9 / n) (the sum of
  // twelve uniforms has kurtosis 2.9).
  CHECK(std::abs(mean) < 5 * 0.02 / std::sqrt(1e5));
  CHECK(std::abs(square / 0.0004 - 1) < 5 * std::sqrt(1.9 / 1e5));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  CHECK(*low >= -0.12F);
  CHECK(*high <= 0.12F);
  CHECK(*high > 0.06F);  // three deviations: 1 in 1000 is beyond
  CHECK(hash_of(std::as_bytes(std::span(values))).hex().substr(0, 16) == "2e1572e04aa127da");
}

/// How the parameters of a layer start: a letter and the number for each, in PyTorch's terms.
std::vector<std::pair<char, double>> starts(LayerSpec layer, const Port& input) {
  const auto made = make_layer(layer);
  REQUIRE(made.ok());
  const auto plan = (*made)->plan(input);
  REQUIRE(plan.ok());
  std::vector<std::pair<char, double>> found;
  for (const auto& p : plan->params) {
    found.emplace_back("cun"[static_cast<int>(p.init.kind)], p.init.value);
  }
  return found;
}

TEST_CASE("layers start as PyTorch's of the same name") {
  using Starts = std::vector<std::pair<char, double>>;
  const auto whole = [](std::int64_t n) { return OptionValue(n); };
  // Linear and Conv: uniform in 1/sqrt(fan in), biases too; a fan of 9, and of 4/2 channels 5 x 5.
  CHECK(starts({"linear", "", {{"out", whole(3)}}}, {{2, 9}, false}) ==
        Starts{{'u', 1.0 / 3}, {'u', 1.0 / 3}});
  CHECK(starts({"conv2d", "", {{"out", whole(6)}, {"kernel", whole(5)}, {"groups", whole(2)}}},
               {{4, 8, 8}, false}) ==
        Starts{{'u', 1 / std::sqrt(50.0)}, {'u', 1 / std::sqrt(50.0)}});
  // LSTM and GRU: uniform in 1/sqrt(hidden), whatever goes in.
  for (const char* type : {"lstm", "gru"}) {
    CHECK(starts({type, "", {{"hidden", whole(16)}}}, {{3, 5}, false}) == Starts(4, {'u', 0.25}));
  }
  // MultiheadAttention: Xavier-uniform over [3D, D], 1/sqrt(D) on the way out, biases 0.
  CHECK(starts({"attention", "", {{"heads", whole(2)}}}, {{3, 6}, false}) ==
        Starts{{'u', std::sqrt(6.0 / 24)}, {'u', 1 / std::sqrt(6.0)}, {'c', 0}, {'c', 0}});
  CHECK(starts({"embedding", "", {{"vocabulary", whole(7)}, {"width", whole(3)}}}, {{4}, true}) ==
        Starts{{'n', 1}});
  for (const char* type : {"layer_norm", "group_norm", "batch_norm"}) {
    CHECK(starts({type, "", {}}, {{4, 5}, false}) == Starts{{'c', 1}, {'c', 0}});
  }
}

TEST_CASE("a constant is itself") {
  std::vector<float> values(3, 9.0F);
  initialize("x", Init::constant(1.5), 7, values);
  CHECK(values == std::vector<float>(3, 1.5F));
}

}  // namespace
}  // namespace shoal::ops
