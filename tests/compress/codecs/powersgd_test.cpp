#include <algorithm>
#include <cmath>

#include "compress/error_feedback.h"
#include "compress/lane.h"
#include "compress/power_state.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> power(std::int64_t rank) {
  Options options;
  options.set("rank", rank);
  return std::move(make_codec("powersgd", options)).value();
}

double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  }
  return std::sqrt(sum);
}

double norm(std::span<const float> a) { return distance(a, std::vector<float>(a.size())); }

/// A sum of `rank` random outer products.
std::vector<float> low_rank(std::size_t rows, std::size_t cols, std::size_t rank,
                            std::uint64_t seed) {
  const auto a = normal_input(rows * rank, seed);
  const auto b = normal_input(cols * rank, seed + 1);
  std::vector<float> m(rows * cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t k = 0; k < rank; ++k) {
        m[i * cols + j] += a[k * rows + i] * b[k * cols + j];
      }
    }
  }
  return m;
}

/// What the second of two half-steps makes of `m`; the first one's answer is the state's.
std::vector<float> after_two(const Codec& codec, const Sample& sample, std::span<const float> m) {
  auto state = sample.state->clone();
  CodecContext context = sample.context;
  context.state = state.get();
  const auto first = encoded(codec, m, context);
  REQUIRE(state->advance({0, sample.map->granule_count()}, context, first).ok());
  ++context.round;
  return decoded(codec, encoded(codec, m, context), sample.elements, context);
}

}  // namespace

TEST_CASE("powersgd: two half-steps give back what has no more columns than the basis", "[codec]") {
  const auto seed = test_seed(41);
  const auto codec = power(4);
  for (const auto& [rows, cols] : {std::pair{64, 64}, {300, 40}, {40, 300}, {128, 33}}) {
    for (const int answers : {0, 1, 2}) {
      CAPTURE(seed, rows, cols, answers);
      const Sample s = tensor_sample(*codec, rows, cols, answers);
      const auto m = low_rank(s.rows, s.elements / s.rows, 4, seed);
      CHECK(distance(after_two(*codec, s, m), m) < 1e-5 * norm(m));
      // One half-step on a basis that knows nothing of m does not.
      CHECK(distance(decoded(*codec, encoded(*codec, m, s.context), m.size(), s.context), m) >
            0.1 * norm(m));
    }
  }
}

TEST_CASE("powersgd: a rank as large as the shorter side loses nothing in two", "[codec]") {
  const auto seed = test_seed(42);
  const auto codec = power(32);
  for (const auto& [rows, cols] : {std::pair{5, 1000}, {32, 128}, {1000, 5}, {300, 31}}) {
    CAPTURE(seed, rows, cols);
    const Sample s = tensor_sample(*codec, rows, cols, 0);
    const auto m = normal_input(s.elements, seed);
    CHECK(distance(after_two(*codec, s, m), m) < 1e-5 * norm(m));
  }
}

TEST_CASE("powersgd: with the basis fixed, encodings add up", "[codec]") {
  const auto seed = test_seed(43);
  for (const std::int64_t rank : {1, 4, 7}) {
    const auto codec = power(rank);
    for (const int answers : {0, 1}) {
      CAPTURE(seed, rank, answers);
      const Sample s = tensor_sample(*codec, 61, 83, answers);
      const auto x = normal_input(s.elements, seed);
      const auto y = normal_input(s.elements, seed + 1);
      std::vector<float> both(s.elements);
      std::transform(x.begin(), x.end(), y.begin(), both.begin(), std::plus<>());
      const PowerTensor& tensor = *dynamic_cast<const PowerState&>(*s.state).find(0);
      const auto factor = [&](std::span<const float> v) {
        std::vector<float> f;
        const auto bytes = encoded(*codec, v, s.context);
        ByteReader in(bytes);
        REQUIRE(read_factor(in, tensor, f).ok());
        return f;
      };
      auto sum = factor(x);
      const auto of_y = factor(y);
      std::transform(sum.begin(), sum.end(), of_y.begin(), sum.begin(), std::plus<>());
      const auto of_both = factor(both);
      CHECK(distance(sum, of_both) < 1e-5 * norm(of_both));
    }
  }
}

TEST_CASE("powersgd: an answer is in the span, so encoding it again loses rounding only",
          "[codec]") {
  const auto codec = power(4);
  for (const int answers : {0, 1}) {
    const Sample s = tensor_sample(*codec, 100, 50, answers);
    const auto x = normal_input(s.elements, test_seed(44));
    const auto once = decoded(*codec, encoded(*codec, x, s.context), x.size(), s.context);
    const auto twice = decoded(*codec, encoded(*codec, once, s.context), x.size(), s.context);
    CHECK(distance(once, twice) < 1e-6 * norm(once));
    CHECK(norm(once) > 0.05 * norm(x));
  }
}

TEST_CASE("powersgd: with a carry the sum of what is sent follows the sum of what is meant",
          "[codec]") {
  const auto seed = test_seed(45);
  const auto codec = power(2);
  const Sample s = tensor_sample(*codec, 80, 60, 0);
  const Range whole{0, s.map->granule_count()};
  auto state = s.state->clone();
  CodecContext context = s.context;
  context.state = state.get();
  Carry carry(*s.map);
  const std::size_t size = static_cast<std::size_t>(s.map->flat_size());
  std::vector<float> x(size);
  std::vector<double> meant(size);
  std::vector<double> sent(size);
  for (std::uint64_t round = 0; round < 40; ++round) {
    auto drawn = low_rank(80, 60, 3, seed);  // the same each round, and some noise
    const auto noise = normal_input(s.elements, seed + round);
    for (std::size_t i = 0; i < s.elements; ++i) {
      x[i] = drawn[i] + 0.1F * noise[i];
      meant[i] += static_cast<double>(x[i]);
    }
    std::vector<float> sum(size);
    carry.contribution(1, x, sum);
    ByteWriter out;
    REQUIRE(encode_granules(*codec, *s.map, whole, sum, context, out).ok());
    std::vector<float> y(size);
    REQUIRE(decode_granules(*codec, *s.map, whole, context, out.span(), 1, y).ok());
    for (std::size_t i = 0; i < size; ++i) {
      sent[i] += static_cast<double>(y[i]);
    }
    REQUIRE(carry.settle_included(*codec, context, whole, sum, 1, out.span()).ok());
    REQUIRE(state->advance(whole, context, out.span()).ok());
    ++context.round;
  }
  double error = 0;
  double total = 0;
  double owed = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double carried = static_cast<double>(carry.values()[i]);
    error += std::pow(meant[i] - sent[i] - carried, 2);
    total += meant[i] * meant[i];
    owed += carried * carried;
  }
  CHECK(std::sqrt(error) < 1e-5 * std::sqrt(total));  // what is not sent is carried
  // A third direction gets its turn each time its carry has grown past the other two's: what is
  // owed stays a few rounds' worth of the 40.
  CHECK(std::sqrt(owed) < 0.2 * std::sqrt(total));
}

TEST_CASE("powersgd: what overflows is refused, and so is a tensor of another model", "[codec]") {
  const auto codec = power(4);
  const Sample s = tensor_sample(*codec, 64, 64, 0);
  ByteWriter out;
  const Status status = codec->encode(std::vector<float>(4096, kFloatMax), s.context, out);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kData);
  CHECK(out.size() == 0);
  CHECK_FALSE(codec->encode(normal_input(4096, 1), {}, out).ok());
  CHECK_FALSE(codec->encode(normal_input(4095, 1), s.context, out).ok());
  const auto bytes = encoded(*codec, normal_input(4096, 1), s.context);
  std::vector<float> acc(4096);
  ByteReader in(bytes);
  const Status read = codec->decode_add(in, {}, 1, acc);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == Code::kBadFrame);
  // A factor for the other side does not pass as one for this.
  const Sample later = tensor_sample(*codec, 64, 64, 1);
  ByteReader again(bytes);
  CHECK_FALSE(codec->decode_add(again, later.context, 1, acc).ok());
}

TEST_CASE("powersgd: bytes are those of the factor", "[codec]") {
  const auto codec = power(4);
  const Sample right = tensor_sample(*codec, 300, 40, 0);
  const Sample left = tensor_sample(*codec, 300, 40, 1);
  const auto x = normal_input(12000, 1);
  CHECK(encoded(*codec, x, right.context).size() == 2 + 4 * 4 * 300);
  CHECK(encoded(*codec, x, left.context).size() == 2 + 4 * 4 * 40);
  const Sample flat = tensor_sample(*codec, 4096, 1, 0);
  CHECK(encoded(*codec, normal_input(4096, 1), flat.context).size() == 4 * 4096);
}
