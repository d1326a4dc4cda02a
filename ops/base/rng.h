#pragma once

#include <array>
#include <cstdint>

namespace shoal {

/// Philox-4x32-10: four random words from a counter and a key, the same on every machine.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) noexcept;

/// A counter-based generator: (seed, stream) name an independent sequence, `position` a place in
/// it. The three numbers are its whole state, so a checkpoint holds three integers.
class Rng {
 public:
  Rng(std::uint64_t seed, std::uint64_t stream, std::uint64_t position = 0)
      : seed_(seed), stream_(stream), position_(position) {}

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  /// Uniform in [0, bound) without bias. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1) with 53 random bits.
  double uniform();
  /// Standard normal, Box-Muller in double precision.
  double normal();

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::uint64_t stream() const { return stream_; }
  /// 32-bit words drawn so far.
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_;
  std::array<std::uint32_t, 4> block_{};
  std::uint64_t block_index_ = ~std::uint64_t{0};
};

/// Mixes two numbers into one (for deriving seeds from names and indices); SplitMix64 finaliser.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace shoal
