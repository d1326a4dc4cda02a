#pragma once

#include <cstdint>
#include <span>

#include "compress/codec.h"

namespace shoal::compress {

/// A random set of a granule's indices that every sender of a round draws alike, so that what they
/// keep adds up. Its seed travels in the encoding: 18 bits of (run_seed, round, granule).
inline constexpr unsigned kSupportSeedBits = 18;
std::uint32_t support_seed(const CodecContext& context);

/// Fills `indices` with as many different numbers below `elements`, ascending; every set of them is
/// as likely as any other, but for 2^-20 of each draw.
/// Requires: 1 <= indices.size() <= elements <= kGranule.
/// Source: Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987.
void draw_support(std::uint32_t seed, std::size_t elements, std::span<std::uint16_t> indices);

/// What stands before the values of such a set: count - 1 in 12 bits, its seed, zeros.
inline constexpr std::size_t kSupportBytes = 4;
void put_support(std::uint32_t seed, std::size_t count, ByteWriter& out);
/// Reads that and draws the set into `room`. Returns its size, 0 for bytes that put_support never
/// writes for so many elements.
std::size_t get_support(ByteReader& in, std::size_t elements, std::span<std::uint16_t> room);

}  // namespace shoal::compress
