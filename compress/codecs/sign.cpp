// One bit a value and their mean magnitude (EF-SIGNSGD).
//
// A granule: f32 scale = |x|_1 / n and a bit an element, lowest first, 1 for a negative one (-0
// too), zeros up to a whole byte; x ~ +-scale. Where the mean is no normal float: scale 0, u16
// index, f32 value of the largest alone, the first of equals. That contracts by 1/n as well, which
// a scale of few ulps does not.
// Source: Karimireddy et al., "Error Feedback Fixes SignSGD and other Gradient Compression
// Schemes", arXiv 1901.09847, algorithm 1.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/sign.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

/// Writes the bits; returns the largest |x| as bits and the sum of |x|, each times `factor`.
std::uint32_t sign_encode(const float* x, std::size_t count, float factor, std::byte* out,
                          float* sum) {
  const Floats floats;
  const Words words;
  const Ints ints;
  const auto factors = hn::Set(floats, factor);
  hn::Vec<Floats> lanes_sums[kSums / kLanes];
  for (auto& lanes : lanes_sums) {
    lanes = hn::Zero(floats);
  }
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    std::uint32_t bits = 0;
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < kSums; k += kLanes) {
      const auto raw = hn::LoadU(floats, x + i + k);
      const auto negative = hn::Lt(hn::BitCast(ints, raw), hn::Zero(ints));
      bits |= lanes_mask_bits(hn::RebindMask(floats, negative)) << k;
      const auto magnitude = lanes_abs_bits(raw);
      lanes_max = hn::Max(lanes_max, magnitude);
      lanes_sums[k / kLanes] =
          hn::Add(lanes_sums[k / kLanes], hn::Mul(hn::BitCast(floats, magnitude), factors));
    }
    std::memcpy(out + i / 8, &bits, sizeof(bits));
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, lanes_max));
  std::array<float, kSums> sums;
  for (std::size_t k = 0; k < kSums; k += kLanes) {
    hn::StoreU(lanes_sums[k / kLanes], floats, sums.data() + k);
  }
  std::uint32_t bits = 0;
  for (std::size_t k = 0; i + k < count; ++k) {
    const std::uint32_t magnitude = abs_bits(x[i + k]);
    bits |= (bits_of(x[i + k]) >> 31) << k;
    max = std::max(max, magnitude);
    sums[k] += float_of(magnitude) * factor;
  }
  std::memcpy(out + i / 8, &bits, (count - i + 7) / 8);
  *sum = fold_sums(sums.data());
  return max;
}

/// acc += x where a bit is 0, acc -= x where it is 1.
void sign_decode_add(const std::byte* in, float x, float* acc, std::size_t count) {
  const Floats floats;
  const auto plus = hn::Set(floats, x);
  const auto minus = hn::Set(floats, -x);
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, in + i / 8, sizeof(bits));
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < kSums; k += kLanes) {
      const auto signed_x = hn::IfThenElse(lanes_mask(bits >> k), minus, plus);
      hn::StoreU(hn::Add(hn::LoadU(floats, acc + i + k), signed_x), floats, acc + i + k);
    }
  }
  for (; i < count; ++i) {
    acc[i] += (std::to_integer<unsigned>(in[i / 8]) >> (i % 8) & 1) != 0 ? -x : x;
  }
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(sign_encode);
HWY_EXPORT(sign_decode_add);

/// 4096 of these are finite.
constexpr float kSumSafe = 0x1p115F;

std::size_t bit_bytes(std::size_t elements) { return (elements + 7) / 8; }

class Sign final : public Codec {
 public:
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sizeof(float) + std::max(bit_bytes(elements), sizeof(std::uint16_t) + sizeof(float));
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    const std::size_t start = out.size();
    const auto room = out.grow(sizeof(float) + bit_bytes(x.size()));
    float factor = 1;
    float sum = 0;
    const auto sum_up = [&] {
      return HWY_DYNAMIC_DISPATCH(sign_encode)(x.data(), x.size(), factor,
                                               room.data() + sizeof(float), &sum);
    };
    const std::uint32_t max = sum_up();
    if (max >= kInfBits) {
      out.truncate(start);
      return not_finite_error(x);
    }
    if (float_of(max) >= kSumSafe) {
      factor = 0x1p-13F;
      sum_up();
    }
    const float mean = sum / static_cast<float>(x.size()) / factor;
    if (mean < kFloatMin) {
      out.truncate(start);
      put_largest(x, max, out);
      return {};
    }
    const float scale = std::min(mean, float_of(max));  // a sum is rounded, up it may be
    std::memcpy(room.data(), &scale, sizeof(scale));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    float mean = 0;
    if (!in.get(mean)) {
      return truncated_error("sign");
    }
    if (bits_of(mean) == 0) {
      return add_largest(in, scale, acc);
    }
    if (!(mean >= kFloatMin) || !is_finite(mean)) {
      return foreign_error("sign", "a scale out of range");
    }
    ByteSpan bits;
    if (!in.get_bytes(bit_bytes(acc.size()), bits)) {
      return truncated_error("sign");
    }
    if (acc.size() % 8 != 0 && std::to_integer<unsigned>(bits.back()) >> (acc.size() % 8) != 0) {
      return foreign_error("sign", "padding that is not zero");
    }
    HWY_DYNAMIC_DISPATCH(sign_decode_add)(bits.data(), scale * mean, acc.data(), acc.size());
    return {};
  }

 private:
  static void put_largest(std::span<const float> x, std::uint32_t max, ByteWriter& out) {
    const auto largest =
        std::find_if(x.begin(), x.end(), [max](float v) { return abs_bits(v) == max; });
    out.put(0.0F);
    out.put(static_cast<std::uint16_t>(largest - x.begin()));
    out.put(max == 0 ? 0.0F : *largest);
  }

  static Status add_largest(ByteReader& in, float scale, std::span<float> acc) {
    std::uint16_t index = 0;
    float value = 0;
    if (!in.get(index) || !in.get(value)) {
      return truncated_error("sign");
    }
    // The mean of 4096 was below the smallest normal float.
    if (index >= acc.size() || !(std::abs(value) < 0x1p-113F) ||
        (value == 0 && (index != 0 || bits_of(value) != 0))) {
      return foreign_error("sign", "an impossible largest value");
    }
    if (value != 0) {
      add_scaled(acc[index], scale, value);
    }
    return {};
  }

  // |x - scale sign(x)|^2 = |x|^2 - (1 - e^2) |x|_1^2 / n, e being the relative error of the scale
  // (below 2^-16: of 4096 / 32 sums of positive numbers in turn and a quotient), and |x|_1 is at
  // least |x|_2.
  Properties properties_{.wire_id = 10, .contraction = (1 - 0x1p-30) / 4096};
};

}  // namespace

CodecEntry sign_entry() {
  return {"sign",
          "signs and the mean magnitude of each granule",
          {},
          [](const Options&) -> std::unique_ptr<Codec> { return std::make_unique<Sign>(); }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
