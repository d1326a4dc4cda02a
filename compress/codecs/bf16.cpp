// bfloat16: the upper half of a float32, rounded to nearest even. No header.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/bf16.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

using Halves = hn::Rebind<std::uint16_t, Floats>;

/// Returns the largest |x| as bits.
std::uint32_t bf16_encode(const float* x, std::size_t count, std::byte* out) {
  const Floats floats;
  const Words words;
  const Halves halves;
  const std::size_t step = hn::Lanes(floats);
  const auto one = hn::Set(words, 1);
  const auto bias = hn::Set(words, 0x7fff);
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto raw = hn::LoadU(floats, x + i);
    const auto bits = hn::BitCast(words, raw);
    lanes_max = hn::Max(lanes_max, lanes_abs_bits(raw));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), one);
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, bias), odd));
    hn::StoreU(hn::TruncateTo(halves, rounded), halves,
               reinterpret_cast<std::uint16_t*>(out + 2 * i));
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, lanes_max));
  if (max >= kBf16Overflow) {  // rare: vectors let these round to Inf, one by one they don't
    i = 0;
  }
  for (; i < count; ++i) {
    max = std::max(max, abs_bits(x[i]));
    const std::uint16_t half = to_bf16(x[i]);
    std::memcpy(out + 2 * i, &half, sizeof(half));
  }
  return max;
}

/// Returns the largest |decoded| as bits.
std::uint32_t bf16_decode_add(const std::byte* in, float scale, float* acc, std::size_t count) {
  const Floats floats;
  const Words words;
  const Halves halves;
  const std::size_t step = hn::Lanes(floats);
  const auto scales = hn::Set(floats, scale);
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto half = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(in + 2 * i));
    const auto x = hn::BitCast(floats, hn::ShiftLeft<16>(hn::PromoteTo(words, half)));
    lanes_max = hn::Max(lanes_max, lanes_abs_bits(x));
    lanes_add_scaled(acc + i, scales, x);
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, lanes_max));
  for (; i < count; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, in + 2 * i, sizeof(half));
    const float x = from_bf16(half);
    max = std::max(max, abs_bits(x));
    add_scaled(acc[i], scale, x);
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

HWY_EXPORT(bf16_encode);
HWY_EXPORT(bf16_decode_add);

class Bf16 final : public Codec {
 public:
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return 2 * elements;
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    const std::size_t start = out.size();
    const auto room = out.grow(2 * x.size());
    if (HWY_DYNAMIC_DISPATCH(bf16_encode)(x.data(), x.size(), room.data()) >= kInfBits) {
      out.truncate(start);
      return not_finite_error(x);
    }
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    ByteSpan bytes;
    if (!in.get_bytes(2 * acc.size(), bytes)) {
      return truncated_error("bf16");
    }
    const auto max =
        HWY_DYNAMIC_DISPATCH(bf16_decode_add)(bytes.data(), scale, acc.data(), acc.size());
    return max < kInfBits ? Status{} : foreign_error("bf16", "a NaN or Inf");
  }

 private:
  // No contraction is declared: a granule of nothing but values below 2^-134 is lost whole.
  Properties properties_{.wire_id = 2};
};

}  // namespace

CodecEntry bf16_entry() {
  return {"bf16",
          "16-bit brain floats, rounded to nearest even",
          {},
          [](const Options&) -> std::unique_ptr<Codec> { return std::make_unique<Bf16>(); }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
