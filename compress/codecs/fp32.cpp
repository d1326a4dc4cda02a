// Plain float32: the reference that everything else is compared to.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/fp32.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

std::uint32_t fp32_abs_max(const float* x, std::size_t count) { return lanes_abs_max(x, count); }

/// Returns the largest |decoded| as bits.
std::uint32_t fp32_decode_add(const std::byte* in, float scale, float* acc, std::size_t count) {
  const Floats floats;
  const Words words;
  const std::size_t step = hn::Lanes(floats);
  const auto scales = hn::Set(floats, scale);
  auto lanes_max = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto x = hn::LoadU(floats, reinterpret_cast<const float*>(in + 4 * i));
    lanes_max = hn::Max(lanes_max, lanes_abs_bits(x));
    lanes_add_scaled(acc + i, scales, x);
  }
  std::uint32_t max = hn::GetLane(hn::MaxOfLanes(words, lanes_max));
  for (; i < count; ++i) {
    float x = 0;
    std::memcpy(&x, in + 4 * i, sizeof(x));
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

HWY_EXPORT(fp32_abs_max);
HWY_EXPORT(fp32_decode_add);

class Fp32 final : public Codec {
 public:
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return 4 * elements;
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    if (HWY_DYNAMIC_DISPATCH(fp32_abs_max)(x.data(), x.size()) >= kInfBits) {
      return not_finite_error(x);
    }
    out.put_bytes(std::as_bytes(x));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    ByteSpan bytes;
    if (!in.get_bytes(4 * acc.size(), bytes)) {
      return truncated_error("fp32");
    }
    const auto max =
        HWY_DYNAMIC_DISPATCH(fp32_decode_add)(bytes.data(), scale, acc.data(), acc.size());
    return max < kInfBits ? Status{} : foreign_error("fp32", "a NaN or Inf");
  }

 private:
  Properties properties_{
      .wire_id = 1, .summable = true, .lossless = true, .unbiased = true, .contraction = 1};
};

}  // namespace

CodecEntry fp32_entry() {
  return {"fp32", "32-bit floats, nothing lost", {}, [](const Options&) -> std::unique_ptr<Codec> {
            return std::make_unique<Fp32>();
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
