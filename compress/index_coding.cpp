#include "compress/index_coding.h"

#include <algorithm>

namespace shoal::compress {

unsigned rice_parameter(std::span<const std::uint16_t> gaps) {
  unsigned best = 0;
  std::size_t best_bits = ~std::size_t{0};
  for (unsigned k = 0; k <= kRiceParameterMax; ++k) {
    std::uint32_t bits = 0;
    for (const std::uint32_t gap : gaps) {
      const std::uint32_t quotient = gap >> k;
      bits += quotient < kRiceEscape ? quotient + 1 + k : kRiceEscape + kGapBits;
    }
    if (bits < best_bits) {
      best_bits = bits;
      best = k;
    }
  }
  return best;
}

std::size_t rice_bits_max(std::size_t count, std::size_t elements) {
  std::size_t bits = ~std::size_t{0};
  for (unsigned k = 0; k <= kRiceParameterMax; ++k) {
    // The quotients add up to elements >> k at most; a gap with an escape, of which there are
    // no more than that / kRiceEscape, costs at most kGapBits - 1 beyond its plain code.
    const std::size_t quotients = elements >> k;
    bits = std::min(bits, count * (k + 1) + quotients + quotients / kRiceEscape * (kGapBits - 1));
  }
  return bits;
}

}  // namespace shoal::compress
