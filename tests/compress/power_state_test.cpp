#include "compress/power_state.h"

#include <algorithm>
#include <cmath>

#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * b[i];
  }
  return sum;
}

/// Largest entry of |B^T B - 1|.
double not_orthonormal(std::span<const float> columns, std::size_t count) {
  const std::size_t length = columns.size() / count;
  double worst = 0;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const double d =
          dot(columns.subspan(a * length, length), columns.subspan(b * length, length));
      worst = std::max(worst, std::abs(d - (a == b ? 1 : 0)));
    }
  }
  return worst;
}

std::vector<std::byte> saved(const State& state) {
  ByteWriter out;
  state.save(out);
  return out.take();
}

std::unique_ptr<Codec> power(std::int64_t rank) {
  Options options;
  options.set("rank", rank);
  return std::move(make_codec("powersgd", options)).value();
}

}  // namespace

TEST_CASE("power state: columns become orthonormal, whatever they were", "[codec]") {
  const auto seed = test_seed(31);
  // Entries are rounded to 2^-24 of at most 1, so inner products of unit columns are off by at most
  // 2 * 2^-24 * (sum of |entries|) / ... <= 2^-22 by Cauchy-Schwarz.
  constexpr double kBound = 0x1p-21;
  for (const std::size_t length : {2U, 33U, 4096U}) {
    for (const std::size_t count : {1U, 2U, 32U}) {
      if (count > length) {
        continue;
      }
      CAPTURE(seed, length, count);
      auto columns = normal_input(length * count, seed);
      orthonormalise(columns, count, seed);
      CHECK(not_orthonormal(columns, count) < kBound);
      std::vector<float> zeros(length * count);
      orthonormalise(zeros, count, seed);
      CHECK(not_orthonormal(zeros, count) < kBound);
      std::vector<float> equal(length * count, 3.0F);
      orthonormalise(equal, count, seed);
      CHECK(not_orthonormal(equal, count) < kBound);
      auto tiny = normal_input(length * count, seed);
      std::for_each(tiny.begin(), tiny.end(), [](float& v) { v *= 1e-38F; });
      orthonormalise(tiny, count, seed);
      CHECK(not_orthonormal(tiny, count) < kBound);
      auto huge = normal_input(length * count, seed);
      std::for_each(huge.begin(), huge.end(), [](float& v) { v *= 1e35F; });
      orthonormalise(huge, count, seed);
      CHECK(not_orthonormal(huge, count) < kBound);
    }
  }
}

TEST_CASE("power state: nearly dependent columns keep their span and stay orthonormal", "[codec]") {
  const auto seed = test_seed(32);
  auto columns = normal_input(2 * 100, seed);
  const auto first = std::vector<float>(columns.begin(), columns.begin() + 100);
  for (std::size_t i = 0; i < 100; ++i) {  // the second is the first but for a thousandth
    columns[100 + i] = first[i] + 1e-3F * columns[100 + i];
  }
  orthonormalise(columns, 2, seed);
  CHECK(not_orthonormal(columns, 2) < 0x1p-21);
  const double along = dot(std::span(columns).first(100), first);
  CHECK(along == Approx(std::sqrt(dot(first, first))).epsilon(1e-6));
}

TEST_CASE("power state: the first bases follow from seed and tensor alone", "[codec]") {
  const ParamMap map = big_map();
  const auto codec = power(4);
  const auto bytes = saved(*codec->make_state(map, 7));
  CHECK(saved(*codec->make_state(map, 7)) == bytes);
  CHECK(saved(*codec->make_state(map, 8)) != bytes);
  // 1 + 8 bytes, then the one matrix among its tensors: 784 x 1024.
  CHECK(bytes.size() == 9 + 1 + 4 * 4 * 1024);
}

TEST_CASE("power state: an answer moves each of its tensors to the other side", "[codec]") {
  const auto codec = power(3);
  const Sample sample = tensor_sample(*codec, 70, 80, 0);
  const Range whole{0, sample.map->granule_count()};
  const auto x = normal_input(sample.elements, test_seed(33));
  const auto answer = encoded(*codec, x, sample.context);
  const auto next = sample.state->clone();
  REQUIRE(next->advance(whole, sample.context, answer).ok());
  const auto& tensor = *dynamic_cast<const PowerState&>(*next).find(0);
  CHECK(tensor.left);
  CHECK(tensor.basis.size() == 3 * 70);
  CHECK(not_orthonormal(tensor.basis, 3) < 0x1p-21);
  // Whoever reads the answer gets there, and nobody else's state has moved.
  const auto other = codec->make_state(*sample.map, 2024);
  CHECK(saved(*other) == saved(*sample.state));
  REQUIRE(other->advance(whole, sample.context, answer).ok());
  CHECK(saved(*other) == saved(*next));
  // An answer for other granules changes nothing; a short one and one of another round are refused.
  const auto same = next->clone();
  CHECK(same->advance({0, 0}, sample.context, {}).ok());
  CHECK(saved(*same) == saved(*next));
  CHECK_FALSE(same->advance(whole, sample.context, ByteSpan(answer).first(50)).ok());
  CHECK_FALSE(next->clone()->advance(whole, sample.context, answer).ok());
}

TEST_CASE("power state: it is read back to the bit, and nothing else is read", "[codec]") {
  const auto codec = power(2);
  const Sample sample = tensor_sample(*codec, 65, 80, 1);
  const auto bytes = saved(*sample.state);
  const auto state = codec->make_state(*sample.map, 1);
  CHECK(saved(*state) != bytes);
  ByteReader in(bytes);
  REQUIRE(state->load(in).ok());
  CHECK(in.left() == 0);
  CHECK(saved(*state) == bytes);

  const auto refused = [&](std::vector<std::byte> wrong) {
    ByteReader reader(wrong);
    const auto status = state->load(reader);
    return !status.ok() && status.error().code == Code::kData && saved(*state) == bytes;
  };
  for (std::size_t size = 0; size < bytes.size(); size += size < 20 ? 1 : 17) {
    CHECK(refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
  CHECK(refused(saved(*power(3)->make_state(*sample.map, 1))));
  CHECK(refused(saved(*codec->make_state(big_map(), 1))));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30F, 0.9F}) {
    auto wrong = bytes;
    std::memcpy(wrong.data() + 14, &bad, sizeof bad);
    CHECK(refused(wrong));
  }
  auto side = bytes;
  side[9] = std::byte{2};
  CHECK(refused(side));
}
