// Half-precision floats of values brought into their range by one power of two a granule.
//
// A granule: i16 shift, then an IEEE binary16 an element, x ~ half * 2^-shift, rounded to nearest
// even. The largest magnitude lies in 2^14..2^15, unless shift is 127 (see fp16_shift).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/fp16.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

using Words16 = hn::Rebind<std::uint16_t, Floats>;

// Where the machine converts by itself it rounds to nearest even; Highway's stand-in for those
// that don't truncates.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || \
    HWY_TARGET == HWY_SSE4

/// to_fp16 of each lane.
template <class V>
HWY_INLINE hn::Vec<Words16> lanes_to_fp16(V x) {
  const Floats floats;
  const Words words;
  const auto magnitude = lanes_abs_bits(x);
  const auto sign = hn::And(hn::ShiftRight<16>(hn::BitCast(words, x)), hn::Set(words, 0x8000));
  const auto sum = hn::Add(hn::BitCast(floats, magnitude), hn::Set(floats, 0.5F));
  const auto denormal = hn::Sub(hn::BitCast(words, sum), hn::Set(words, 0x3f000000));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(words, 1));
  const auto bias = hn::Set(words, (112U << 23) - 0xfff);
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, bias), odd));
  const auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x38800000)), denormal, normal);
  return hn::TruncateTo(Words16(), hn::Or(half, sign));
}

/// from_fp16 of each lane.
template <class V>
HWY_INLINE hn::Vec<Floats> lanes_from_fp16(V half) {
  const Floats floats;
  const Words words;
  const auto wide = hn::PromoteTo(words, half);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(wide, hn::Set(words, 0x7fff)));
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(words, 0x8000)));
  const auto value = hn::Mul(hn::BitCast(floats, magnitude), hn::Set(floats, 0x1p112F));
  return hn::BitCast(floats, hn::Or(hn::BitCast(words, value), sign));
}

#else

template <class V>
HWY_INLINE hn::Vec<Words16> lanes_to_fp16(V x) {
  return hn::BitCast(Words16(), hn::DemoteTo(hn::Rebind<hwy::float16_t, Floats>(), x));
}

/// Inf and NaN stay what they are.
template <class V>
HWY_INLINE hn::Vec<Floats> lanes_from_fp16(V half) {
  return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), half));
}

#endif

/// Writes shift and values. Returns whether all of x was finite.
bool fp16_encode(const float* x, std::size_t count, std::byte* out) {
  const Floats floats;
  const Words16 halves;
  const std::size_t step = hn::Lanes(floats);
  const std::uint32_t max = lanes_abs_max(x, count);
  if (max >= kInfBits) {
    return false;
  }
  const int shift = fp16_shift(max);
  const float factor = power_of_two(shift);
  const auto field = static_cast<std::int16_t>(shift);
  std::memcpy(out, &field, sizeof(field));
  out += sizeof(field);
  const auto factors = hn::Set(floats, factor);
  std::size_t i = 0;
  if (max < kFp16Overflow) {  // else, and that is rare, one by one
    for (; i + step <= count; i += step) {
      const auto half = lanes_to_fp16(hn::Mul(hn::LoadU(floats, x + i), factors));
      hn::StoreU(half, halves, reinterpret_cast<std::uint16_t*>(out + 2 * i));
    }
  }
  for (; i < count; ++i) {
    std::uint16_t half = to_fp16(x[i] * factor);
    half = abs_bits(x[i]) < kFp16Overflow ? half : static_cast<std::uint16_t>(half - 1);
    std::memcpy(out + 2 * i, &half, sizeof(half));
  }
  return true;
}

/// Returns the largest |half| as float32 bits.
std::uint32_t fp16_decode_add(const std::byte* in, float unshift, float scale, float* acc,
                              std::size_t count) {
  const Floats floats;
  const Words words;
  const Words16 halves;
  const std::size_t step = hn::Lanes(floats);
  const auto unshifts = hn::Set(floats, unshift);
  const auto scales = hn::Set(floats, scale);
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto half =
        lanes_from_fp16(hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(in + 2 * i)));
    lanes_max = hn::Max(lanes_max, lanes_abs_bits(half));
    lanes_add_scaled(acc + i, scales, hn::Mul(half, unshifts));
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, lanes_max));
  for (; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, in + 2 * i, sizeof(bits));
    const float half = from_fp16(bits);
    max = std::max(max, abs_bits(half));
    add_scaled(acc[i], scale, half * unshift);
  }
  return max;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(fp16_encode);
HWY_EXPORT(fp16_decode_add);

constexpr int kShiftMin = -113;

class Fp16 final : public Codec {
 public:
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return 2 + 2 * elements;
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    const std::size_t start = out.size();
    const auto room = out.grow(2 + 2 * x.size());
    if (!HWY_DYNAMIC_DISPATCH(fp16_encode)(x.data(), x.size(), room.data())) {
      out.truncate(start);
      return not_finite_error(x);
    }
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    std::int16_t shift = 0;
    ByteSpan bytes;
    if (!in.get(shift) || !in.get_bytes(2 * acc.size(), bytes)) {
      return truncated_error("fp16");
    }
    if (shift < kShiftMin || shift > kFp16ShiftMax) {
      return foreign_error("fp16", "an impossible shift");
    }
    const std::uint32_t max = HWY_DYNAMIC_DISPATCH(fp16_decode_add)(
        bytes.data(), power_of_two(-shift), scale, acc.data(), acc.size());
    // At the lowest shift 2^15 would mean 2^128.
    const bool high = shift == kShiftMin ? max >= kFp16Highest : max > kFp16Highest;
    if (high || (shift < kFp16ShiftMax && max < kFp16Lowest)) {
      return foreign_error("fp16", "values out of range");
    }
    return {};
  }

 private:
  // Half an ulp of 11 bits squared, and of what is 2^29 times smaller than the largest half an ulp
  // of that, 2^-39 of the largest: 2^-22 + 4096 * 2^-78 in all. Below 2^-113 nothing is so small.
  Properties properties_{.wire_id = 5, .contraction = 1 - 0x1p-21};
};

}  // namespace

CodecEntry fp16_entry() {
  return {"fp16",
          "16-bit half-precision floats with a power of two for each granule",
          {},
          [](const Options&) -> std::unique_ptr<Codec> { return std::make_unique<Fp16>(); }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
