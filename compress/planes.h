#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/base/bytes.h"

namespace shoal::compress {

// Codes of 1..8 bits as planes: first the lowest bit of every code, element i in bit i % 8 of byte
// i / 8, zeros up to a whole byte, then the next bit. Vectors pack and unpack a plane at once,
// whatever the number of bits.

/// Bytes of `count` codes of so many bits.
constexpr std::size_t planes_bytes(std::size_t count, unsigned bits) {
  return bits * ((count + 7) / 8);
}

/// Requires: `out` has planes_bytes().
void put_planes(std::span<const std::uint8_t> codes, unsigned bits, std::span<std::byte> out);

/// Returns whether the padding is zero. Requires: `in` has planes_bytes().
[[nodiscard]] bool get_planes(ByteSpan in, unsigned bits, std::span<std::uint8_t> codes);

}  // namespace shoal::compress
