#include "compress/index_coding.h"

#include <algorithm>

namespace shoal::compress {
namespace {

constexpr std::uint32_t kAllOnes = 0xffffffff;

std::uint32_t rice_bits(std::span<const std::uint16_t> gaps, unsigned k) {
  std::uint32_t bits = 0;
  for (const std::uint32_t gap : gaps) {
    const std::uint32_t quotient = gap >> k;
    bits += quotient < kRiceEscape ? quotient + 1 + k : kRiceEscape + kGapBits;
  }
  return bits;
}

/// Reads a unary number. False past `most`.
bool get_plain_unary(BitReader& in, std::size_t most, std::uint32_t& gap) {
  unsigned ones = 0;
  gap = 0;
  do {
    if (!in.get_unary(32, ones)) {
      return false;
    }
    gap += ones;
  } while (ones == 32 && gap <= most);
  return true;
}

}  // namespace

unsigned rice_parameter(std::span<const std::uint16_t> gaps) {
  unsigned best = 0;
  std::size_t best_bits = ~std::size_t{0};
  // A gap takes k + 1 bits or, with its escape, 32: from some k on none can be shorter.
  for (unsigned k = 0; k <= kRiceParameterMax && gaps.size() * (k + 1) < best_bits; ++k) {
    const std::uint32_t bits = rice_bits(gaps, k);
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

IndexCode::IndexCode(std::span<const std::uint16_t> indices) : count_(indices.size()) {
  SHOAL_CHECK(!indices.empty() && indices.size() <= kGranule, "one index or more of a granule");
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    gaps_[i] = static_cast<std::uint16_t>(indices[i] - next);
    next = indices[i] + 1U;
  }
  const std::span<const std::uint16_t> gaps(gaps_.data(), count_);
  code_ = rice_parameter(gaps);
  // `next` is how many bits the bitmap has. Short gaps are the same unary numbers with k = 0.
  code_ = next < rice_bits(gaps, code_) ? kIndexBitmap : code_;
}

void IndexCode::put(BitWriter& out) const {
  for (const std::uint32_t gap : std::span(gaps_.data(), count_)) {
    if (code_ != kIndexBitmap) {
      rice_put(out, gap, code_);
      continue;
    }
    std::uint32_t ones = gap;
    for (; ones >= 32; ones -= 32) {
      out.put(kAllOnes, 32);
    }
    out.put((std::uint32_t{1} << ones) - 1, ones + 1);
  }
}

bool get_indices(BitReader& in, unsigned code, std::size_t elements,
                 std::span<std::uint16_t> indices) {
  if (code > kIndexBitmap || indices.size() > elements) {
    return false;
  }
  std::uint32_t next = 0;
  for (std::uint16_t& index : indices) {
    std::uint32_t gap = 0;
    const bool got =
        code == kIndexBitmap ? get_plain_unary(in, elements, gap) : rice_get(in, code, gap);
    if (!got || next + gap >= elements) {
      return false;
    }
    index = static_cast<std::uint16_t>(next + gap);
    next += gap + 1;
  }
  return true;
}

std::size_t index_bits_max(std::size_t count, std::size_t elements) {
  return std::min(rice_bits_max(count, elements), elements);
}

}  // namespace shoal::compress
