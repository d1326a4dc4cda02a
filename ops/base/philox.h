#pragma once

#include <cstdint>

#include "ops/base/hd.h"

namespace shoal::ops::kernels {

/// Four random words.
struct Words {
  std::uint32_t word[4];
};

/// Philox-4x32-10: four random words from a counter and a key, the same on every machine.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
SHOAL_HD inline Words philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint64_t kMul0 = 0xD2511F53U;
  constexpr std::uint64_t kMul1 = 0xCD9E8D57U;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMul0 * counter.word[0];
    const std::uint64_t p1 = kMul1 * counter.word[2];
    counter = {{static_cast<std::uint32_t>(p1 >> 32U) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32U) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(p0)}};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// Block `index` of the sequence (seed, stream): words [4 index, 4 index + 4) of Rng.
SHOAL_HD inline Words random_block(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U),
                  static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)}},
                static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U));
}

}  // namespace shoal::ops::kernels
