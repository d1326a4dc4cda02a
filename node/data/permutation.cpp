#include "node/data/permutation.h"

#include <cmath>

#include "ops/base/check.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint32_t kRounds = 8;
constexpr std::uint64_t kDomain = 0x7065726d75746174;  // keeps these draws apart from other users'

std::uint64_t ceil_sqrt(std::uint64_t n) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));  // a first guess only
  while (root * root < n) {
    ++root;
  }
  while (root > 1 && (root - 1) * (root - 1) >= n) {
    --root;
  }
  return root;
}

}  // namespace

Permutation::Permutation(std::uint64_t seed, std::uint64_t stream, std::uint64_t size)
    : size_(size) {
  SHOAL_CHECK(size > 0 && size <= (1ULL << 48U), "a permutation has elements");
  a_ = ceil_sqrt(size);
  b_ = (size + a_ - 1) / a_;
  const std::uint64_t key = mix(mix(seed, kDomain), stream);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)};
}

std::uint64_t Permutation::draw(std::uint64_t half, std::uint32_t round) const {
  const auto words = philox(
      {static_cast<std::uint32_t>(half), static_cast<std::uint32_t>(half >> 32U), round, 0}, key_);
  return words[0] | (std::uint64_t{words[1]} << 32U);
}

std::uint64_t Permutation::step(std::uint64_t x) const {
  // x is a pair (left, right) of digits; each round adds a function of one to the other, which can
  // be undone, so that the whole is a bijection of [0, a*b).
  std::uint64_t left = x % a_;
  std::uint64_t right = x / a_;
  for (std::uint32_t round = 0; round < kRounds; round += 2) {
    left = (left + draw(right, round) % a_) % a_;
    right = (right + draw(left, round + 1) % b_) % b_;
  }
  return left + a_ * right;
}

std::uint64_t Permutation::at(std::uint64_t position) const {
  SHOAL_CHECK(position < size_, "a position lies inside its permutation");
  std::uint64_t x = step(position);
  while (x >= size_) {  // a*b exceeds size by less than a, so this ends soon
    x = step(x);
  }
  return x;
}

}  // namespace shoal::node
