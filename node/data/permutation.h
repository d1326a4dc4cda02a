#pragma once

#include <array>
#include <cstdint>

namespace shoal::node {

/// A permutation of [0, size) from (seed, stream): any position is computed by itself, nothing is
/// stored, and every machine computes the same.
/// Cost: 8 Philox blocks a position, rarely 16.
/// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, the generalised
/// Feistel network with cycle walking, over a*b >= size with a = ceil(sqrt(size)).
class Permutation {
 public:
  /// Requires: size > 0 (checked). `stream` is the epoch for the global order.
  Permutation(std::uint64_t seed, std::uint64_t stream, std::uint64_t size);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// What stands at `position`. Requires: position < size() (checked).
  [[nodiscard]] std::uint64_t at(std::uint64_t position) const;

 private:
  [[nodiscard]] std::uint64_t step(std::uint64_t x) const;
  [[nodiscard]] std::uint64_t draw(std::uint64_t half, std::uint32_t round) const;

  std::uint64_t size_;
  std::uint64_t a_;  // sizes of the halves; a_ * b_ >= size_
  std::uint64_t b_;
  std::array<std::uint32_t, 2> key_;
};

}  // namespace shoal::node
