// Zero or the largest magnitude with either sign, drawn so that the mean is right (TernGrad).
//
// A granule: f32 scale, then five values a byte as digits of base 3, the first lowest: 0 is
// -scale, 1 is 0, 2 is scale; digits after the last value are 0. The scale is the largest
// magnitude or, where clipping is on, at most `clip` times the root of the mean square.
// Source: Wen et al., "TernGrad: Ternary Gradients to Reduce Communication in Distributed Deep
// Learning", arXiv 1705.07878, equations 2-3, and section 4 for clipping; there by the deviation
// from the mean, which for gradients is about the same.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/ternary.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

/// Writes a digit an element. Returns the scale, or -1 when a value is not finite.
float ternary_quantise(const float* x, std::size_t count, float clip, Draws draws,
                       std::uint8_t* digits) {
  const std::uint32_t max = lanes_abs_max(x, count);
  if (max >= kInfBits) {
    return -1;
  }
  float scale = float_of(max);
  if (clip > 0 && max > 0) {
    const float factor = unit_factor(max);
    const float mean = lanes_square_sum(x, count, factor) / static_cast<float>(count);
    const float limit = std::max(clip * std::sqrt(mean) / factor, kFloatMin);
    scale = std::min(scale, limit);
  }
  lanes_quantise(x, count, scale, RoundRandomly{draws, 1}, 0, 1, digits);
  return scale;
}

void ternary_add(const std::uint8_t* digits, std::size_t count, float value, float scale,
                 float* acc) {
  lanes_add_steps(digits, count, 1, value, scale, acc);
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(ternary_quantise);
HWY_EXPORT(ternary_add);

constexpr std::size_t kDigits = 5;  ///< of base 3 in a byte: 243 of 256 are used
constexpr unsigned kByteMax = 242;
/// Digits and room to pack and unpack a whole byte at the end, and 8 bytes at a time.
using Digits = std::array<std::uint8_t, kGranule + 8>;

/// The digits of every byte, in the lower 5 bytes of a word.
constexpr std::array<std::uint64_t, kByteMax + 1> kDigitsOf = [] {
  std::array<std::uint64_t, kByteMax + 1> all{};
  for (unsigned byte = 0; byte <= kByteMax; ++byte) {
    unsigned left = byte;
    for (std::size_t k = 0; k < kDigits; ++k, left /= 3) {
      all[byte] |= std::uint64_t{left % 3} << (8 * k);
    }
  }
  return all;
}();

std::size_t digit_bytes(std::size_t elements) { return (elements + kDigits - 1) / kDigits; }

class Ternary final : public Codec {
 public:
  explicit Ternary(float clip) : clip_(clip) { properties_.unbiased = clip == 0; }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sizeof(float) + digit_bytes(elements);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
    Digits digits;
    const float scale = HWY_DYNAMIC_DISPATCH(ternary_quantise)(x.data(), x.size(), clip_,
                                                               draws_of(context), digits.data());
    if (scale < 0) {
      return not_finite_error(x);
    }
    std::memset(digits.data() + x.size(), 0, kDigits);
    out.put(scale);
    const std::uint8_t* five = digits.data();
    for (std::byte& byte : out.grow(digit_bytes(x.size()))) {
      byte =
          static_cast<std::byte>(five[0] + 3 * five[1] + 9 * five[2] + 27 * five[3] + 81 * five[4]);
      five += kDigits;
    }
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    SHOAL_CHECK(!acc.empty() && acc.size() <= kGranule, "a granule at a time");
    float value = 0;
    ByteSpan bytes;
    if (!in.get(value) || !in.get_bytes(digit_bytes(acc.size()), bytes)) {
      return truncated_error("ternary");
    }
    Digits digits;
    std::uint8_t* five = digits.data();
    for (const std::byte b : bytes) {
      const auto byte = std::to_integer<unsigned>(b);
      if (byte > kByteMax) {
        return foreign_error("ternary", "a byte beyond five digits");
      }
      std::memcpy(five, &kDigitsOf[byte], sizeof(std::uint64_t));
      five += kDigits;
    }
    const std::size_t used = acc.size() % kDigits;
    const std::uint64_t last = kDigitsOf[std::to_integer<unsigned>(bytes.back())];
    if (!scale_valid(value, 1) || (used != 0 && last >> (8 * used) != 0)) {
      return foreign_error("ternary", "a scale out of range, or padding that is not zero");
    }
    const auto is_zero = [](std::uint8_t digit) { return digit == 1; };
    if (value == 0 && !std::all_of(digits.data(), digits.data() + acc.size(), is_zero)) {
      return foreign_error("ternary", "values without a scale");
    }
    HWY_DYNAMIC_DISPATCH(ternary_add)(digits.data(), acc.size(), value, scale, acc.data());
    return {};
  }

 private:
  float clip_;
  Properties properties_{.wire_id = 9, .deterministic = false};
};

}  // namespace

CodecEntry ternary_entry() {
  OptionSpec clip{.name = "clip",
                  .type = OptionType::kFloat,
                  .default_value = 2.5,
                  .help = "values are cut to so many root mean squares of the granule; 0: never",
                  .minimum = 0.0,
                  .maximum = 100.0,
                  .choices = {},
                  .scope = Scope::kPeer};
  return {"ternary",
          "zero or the largest magnitude, drawn in proportion",
          {std::move(clip)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Ternary>(static_cast<float>(options.get_float("clip")));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
