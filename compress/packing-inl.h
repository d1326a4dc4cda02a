// Sums and packed codes that come out the same in vectors of every width: included once per Highway
// target, after ops/cpu/fixed_width.h.
#if defined(SHOAL_COMPRESS_PACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_COMPRESS_PACKING_INL_H
#undef SHOAL_COMPRESS_PACKING_INL_H
#else
#define SHOAL_COMPRESS_PACKING_INL_H
#endif

#include <array>

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

inline constexpr std::size_t kLanes = hn::MaxLanes(Floats());
static_assert(kLanes <= 16);

/// Masks of floats as bits, lowest lane first, and back.
template <class M>
HWY_INLINE std::uint32_t lanes_mask_bits(M mask) {
  std::array<std::uint8_t, 8> bytes;  // Highway may write so many
  hn::StoreMaskBits(Floats(), mask, bytes.data());
  if constexpr (kLanes <= 8) {
    return bytes[0];
  } else {  // no wider than what was stored, or the load waits for the store
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data(), sizeof(bits));
    return bits;
  }
}
HWY_INLINE hn::Mask<Floats> lanes_mask(std::uint32_t bits) {
  std::array<std::uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), &bits, sizeof(bits));
  return hn::LoadMaskBits(Floats(), bytes.data());
}

/// Sum of (factor * x)^2, in lanes in turn.
HWY_INLINE float lanes_square_sum(const float* x, std::size_t count, float factor) {
  const Floats floats;
  const auto factors = hn::Set(floats, factor);
  hn::Vec<Floats> lanes_sums[kSums / kLanes];
  for (auto& lanes : lanes_sums) {
    lanes = hn::Zero(floats);
  }
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < kSums; k += kLanes) {
      const auto scaled = hn::Mul(hn::LoadU(floats, x + i + k), factors);
      lanes_sums[k / kLanes] = hn::Add(lanes_sums[k / kLanes], hn::Mul(scaled, scaled));
    }
  }
  std::array<float, kSums> sums;
  for (std::size_t k = 0; k < kSums; k += kLanes) {
    hn::StoreU(lanes_sums[k / kLanes], floats, sums.data() + k);
  }
  for (std::size_t k = 0; i + k < count; ++k) {
    const float scaled = x[i + k] * factor;
    sums[k] += scaled * scaled;
  }
  return fold_sums(sums.data());
}

/// Codes of 4 bits: byte j holds that of element j below that of element j + nibble_bytes(count),
/// or below zeros where there is none. `codes` has lanes(x, index), whose low 4 bits count, and
/// one(x, index): of the element at x, whose index in the granule is given.
template <class Codes4>
HWY_INLINE void pack_nibbles(const Codes4& codes, const float* x, std::size_t index,
                             std::size_t count, std::byte* out) {
  const Words words;
  const hn::Rebind<std::uint8_t, Floats> octets;
  auto* bytes = reinterpret_cast<std::uint8_t*>(out);
  const std::size_t half = nibble_bytes(count);
  std::size_t j = 0;
  for (; half + j + kLanes <= count; j += kLanes) {
    const auto low = codes.lanes(x + j, index + j);
    const auto high = codes.lanes(x + half + j, index + half + j);
    const auto both = hn::Or(hn::And(low, hn::Set(words, 15)), hn::ShiftLeft<4>(high));
    hn::StoreU(hn::TruncateTo(octets, both), octets, bytes + j);
  }
  for (; j < half; ++j) {
    std::uint32_t both = codes.one(x + j, index + j);
    if (half + j < count) {
      both |= codes.one(x + half + j, index + half + j) << 4;
    }
    bytes[j] = static_cast<std::uint8_t>(both);
  }
}

/// The same code for every element.
struct ConstantCode {
  std::uint32_t code;

  HWY_INLINE hn::Vec<Words> lanes(const float* /*x*/, std::size_t /*index*/) const {
    return hn::Set(Words(), code);
  }
  std::uint32_t one(const float* /*x*/, std::size_t /*index*/) const { return code; }
};

/// Inverse: acc += scale * value of each code; `values` has lanes(codes) and one(code). Returns the
/// smallest code, or 16 if one that is missing at the end is not zero.
template <class Values>
HWY_INLINE std::uint32_t add_nibbles(const Values& values, const std::byte* in, std::size_t count,
                                     float scale, float* acc) {
  const Words words;
  const hn::Rebind<std::uint8_t, Floats> octets;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
  const auto scales = hn::Set(Floats(), scale);
  const std::size_t half = nibble_bytes(count);
  auto lanes_min = hn::Set(words, 15);
  std::size_t j = 0;
  for (; half + j + kLanes <= count; j += kLanes) {
    const auto both = hn::PromoteTo(words, hn::LoadU(octets, bytes + j));
    const auto low = hn::And(both, hn::Set(words, 15));
    const auto high = hn::ShiftRight<4>(both);
    lanes_min = hn::Min(lanes_min, hn::Min(low, high));
    lanes_add_scaled(acc + j, scales, values.lanes(low));
    lanes_add_scaled(acc + half + j, scales, values.lanes(high));
  }
  std::uint32_t min = hn::GetLane(hn::MinOfLanes(words, lanes_min));
  for (; half + j < count; ++j) {
    const std::uint32_t low = bytes[j] & 15U;
    const std::uint32_t high = bytes[j] >> 4;
    min = std::min({min, low, high});
    add_scaled(acc[j], scale, values.one(low));
    add_scaled(acc[half + j], scale, values.one(high));
  }
  if (j < half) {
    const std::uint32_t low = bytes[j] & 15U;
    add_scaled(acc[j], scale, values.one(low));
    return bytes[j] >> 4 == 0 ? std::min(min, low) : 16;
  }
  return min;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
