// Codes of a few bits, packed so that vectors of every width can: included once per Highway target,
// after ops/cpu/fixed_width.h.
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

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
