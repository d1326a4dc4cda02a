#include "ops/base/rng.h"

#include <cmath>

#include "ops/base/check.h"
#include "ops/base/philox.h"

namespace shoal {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) noexcept {
  const auto words =
      ops::kernels::philox({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

std::uint32_t Rng::next_u32() {
  const std::uint64_t index = position_ / 4;
  if (index != block_index_) {
    block_ =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U),
                static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32U)},
               {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U)});
    block_index_ = index;
  }
  return block_[position_++ % 4];
}

std::uint64_t Rng::next_u64() {
  const std::uint64_t low = next_u32();
  return low | (static_cast<std::uint64_t>(next_u32()) << 32U);
}

std::uint64_t Rng::below(std::uint64_t bound) {
  SHOAL_CHECK(bound > 0, "below(0)");
  // Values past the largest multiple of `bound` would favour small results: draw again.
  const std::uint64_t limit = (~std::uint64_t{0}) - (~std::uint64_t{0}) % bound;
  std::uint64_t x = next_u64();
  while (x >= limit) {
    x = next_u64();
  }
  return x % bound;
}

double Rng::uniform() { return static_cast<double>(next_u64() >> 11U) * 0x1.0p-53; }

double Rng::normal() {
  constexpr double kTwoPi = 6.283185307179586476925286766559;
  const double u = 1.0 - uniform();  // (0, 1], so that the logarithm is finite
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(kTwoPi * v);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a + 0x9E3779B97F4A7C15U * (b + 1);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace shoal
