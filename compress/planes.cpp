#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/planes.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <array>
#include <cstring>

#include "compress/planes.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Octets = hn::ScalableTag<std::uint8_t>;

/// Vectors write whole bytes of a plane: not those of plain C++, which have one element.
bool whole_bytes() { return hn::Lanes(Octets()) >= 8; }

/// Returns how many elements were written, a multiple of 8.
std::size_t planes_put(const std::uint8_t* codes, std::size_t count, unsigned bits,
                       std::byte* out) {
  const Octets octets;
  const std::size_t step = hn::Lanes(octets);
  const std::size_t plane = (count + 7) / 8;
  std::size_t i = 0;
  for (; whole_bytes() && i + step <= count; i += step) {
    const auto code = hn::LoadU(octets, codes + i);
    for (unsigned bit = 0; bit < bits; ++bit) {
      const auto set = hn::TestBit(code, hn::Set(octets, static_cast<std::uint8_t>(1U << bit)));
      auto* to = reinterpret_cast<std::uint8_t*>(out + bit * plane + i / 8);
      hn::StoreMaskBits(octets, set, to);
    }
  }
  return i;
}

/// Returns how many elements were read, a multiple of 8.
std::size_t planes_get(const std::byte* in, unsigned bits, std::uint8_t* codes, std::size_t count) {
  const Octets octets;
  const std::size_t step = hn::Lanes(octets);
  const std::size_t plane = (count + 7) / 8;
  std::size_t i = 0;
  for (; whole_bytes() && i + step <= count; i += step) {
    auto code = hn::Zero(octets);
    for (unsigned bit = 0; bit < bits; ++bit) {
      std::array<std::uint8_t, 32> raw{};  // Highway may read 8 bytes, of which it needs step / 8
      std::memcpy(raw.data(), in + bit * plane + i / 8, step / 8);
      const auto ones = hn::Set(octets, static_cast<std::uint8_t>(1U << bit));
      code = hn::Or(code, hn::IfThenElseZero(hn::LoadMaskBits(octets, raw.data()), ones));
    }
    hn::StoreU(code, octets, codes + i);
  }
  return i;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/base/check.h"

namespace shoal::compress {

HWY_EXPORT(planes_put);
HWY_EXPORT(planes_get);

void put_planes(std::span<const std::uint8_t> codes, unsigned bits, std::span<std::byte> out) {
  SHOAL_CHECK(out.size() == planes_bytes(codes.size(), bits), "room for the planes");
  const std::size_t plane = planes_bytes(codes.size(), 1);
  const std::size_t from =
      HWY_DYNAMIC_DISPATCH(planes_put)(codes.data(), codes.size(), bits, out.data());
  for (unsigned bit = 0; bit < bits; ++bit) {
    for (std::size_t i = from; i < codes.size(); i += 8) {
      unsigned byte = 0;
      for (std::size_t k = i; k < codes.size() && k < i + 8; ++k) {
        byte |= (codes[k] >> bit & 1U) << (k - i);
      }
      out[bit * plane + i / 8] = static_cast<std::byte>(byte);
    }
  }
}

bool get_planes(ByteSpan in, unsigned bits, std::span<std::uint8_t> codes) {
  SHOAL_CHECK(in.size() == planes_bytes(codes.size(), bits), "the whole of the planes");
  const std::size_t plane = planes_bytes(codes.size(), 1);
  const std::size_t from =
      HWY_DYNAMIC_DISPATCH(planes_get)(in.data(), bits, codes.data(), codes.size());
  bool zeros = true;
  for (std::size_t i = from; i < codes.size(); ++i) {
    codes[i] = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
      const auto byte = std::to_integer<unsigned>(in[bit * plane + i / 8]);
      codes[i] = static_cast<std::uint8_t>(codes[i] | (byte >> (i % 8) & 1U) << bit);
    }
  }
  for (unsigned bit = 0; bit < bits && codes.size() % 8 != 0; ++bit) {
    const auto last = std::to_integer<unsigned>(in[bit * plane + plane - 1]);
    zeros = zeros && last >> (codes.size() % 8) == 0;
  }
  return zeros;
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
