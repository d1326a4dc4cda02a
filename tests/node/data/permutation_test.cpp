#include "node/data/permutation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "node/data/private_order.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using node::Permutation;
using node::PrivateOrder;

std::vector<std::uint64_t> all_of(const Permutation& order) {
  std::vector<std::uint64_t> values(order.size());
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    values[i] = order.at(i);
  }
  return values;
}

TEST_CASE("every size gives a permutation") {
  const std::uint64_t seed = test_seed(7);
  for (const std::uint64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 99, 100, 101, 1000, 60000}) {
    INFO(size);
    auto values = all_of(Permutation(seed, 3, size));
    std::sort(values.begin(), values.end());
    std::vector<std::uint64_t> expected(size);
    std::iota(expected.begin(), expected.end(), std::uint64_t{0});
    REQUIRE(values == expected);
  }
}

TEST_CASE("seed and epoch change the order, and nothing else does") {
  const auto a = all_of(Permutation(1, 0, 1000));
  CHECK(a == all_of(Permutation(1, 0, 1000)));
  CHECK(a != all_of(Permutation(1, 1, 1000)));
  CHECK(a != all_of(Permutation(2, 0, 1000)));
  // The order is part of what peers of all versions and machines share.
  CHECK(std::vector(a.begin(), a.begin() + 4) == std::vector<std::uint64_t>{653, 773, 673, 205});
}

TEST_CASE("a permutation is no arithmetic pattern") {
  // Over a random permutation, the mean of |at(i+1) - at(i)| is n/3 with deviation about
  // n/sqrt(18 n) (steps nearly independent); 6 deviations at n = 10000 are 141.
  const Permutation order(5, 0, 10000);
  double sum = 0;
  std::size_t fixed = 0;
  for (std::uint64_t i = 0; i + 1 < order.size(); ++i) {
    const auto a = static_cast<double>(order.at(i));
    sum += std::abs(static_cast<double>(order.at(i + 1)) - a);
    fixed += order.at(i) == i ? 1 : 0;
  }
  CHECK(std::abs(sum / 9999 - 10000.0 / 3) < 141);
  CHECK(fixed < 10);  // Poisson with mean 1: more has probability 1e-7
}

TEST_CASE("a private order gives each own sample once an epoch, each epoch anew") {
  std::vector<std::uint32_t> own = {4, 8, 15, 16, 23, 42};
  PrivateOrder order(3, own);
  std::vector<std::vector<std::uint32_t>> epochs;
  const auto both = order.next(12);
  epochs.emplace_back(both.begin(), both.begin() + 6);
  epochs.emplace_back(both.begin() + 6, both.end());
  CHECK(epochs[0] != epochs[1]);
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    CHECK(epoch == own);
  }
  CHECK(order.given() == 12);
}

TEST_CASE("a private order resumes where it was, and not as another's") {
  const std::vector<std::uint32_t> own = {1, 2, 3, 4, 5, 6, 7};
  PrivateOrder order(3, own);
  (void)order.next(10);
  ByteWriter out;
  order.save(out);
  const auto expected = order.next(9);
  PrivateOrder resumed(3, own);
  ByteReader in(out.span());
  REQUIRE(resumed.load(in).ok());
  CHECK(resumed.next(9) == expected);

  PrivateOrder other(3, {1, 2, 3});
  ByteReader again(out.span());
  CHECK_FALSE(other.load(again).ok());
  ByteReader early(out.span().first(5));
  CHECK_FALSE(resumed.load(early).ok());
}

}  // namespace
}  // namespace shoal::tests
