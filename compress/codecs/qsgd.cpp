// Random rounding to a few levels of each bucket's norm (QSGD), in plain bits.
//
// A granule: u8 levels, u16 bucket size, then per bucket f32 step = |x|_2 / levels and planes (see
// planes.h) of q + levels in the fewest bits that hold 2 * levels, x ~ q * step. |q| is at most
// levels. A norm that no float holds is cut to the largest, which all values are still below.
// Source: Alistarh et al., "QSGD: Communication-Efficient SGD via Gradient Quantization and
// Encoding", arXiv 1610.02132, section 3.1.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/qsgd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

/// Writes the codes of a bucket. Returns its step, or -1 when a value is not finite.
float qsgd_quantise(const float* x, std::size_t count, float levels, Draws draws, std::size_t index,
                    std::uint8_t* codes) {
  const std::uint32_t max = lanes_abs_max(x, count);
  if (max >= kInfBits) {
    return -1;
  }
  const float factor = unit_factor(max);
  const float norm = norm_above(lanes_square_sum(x, count, factor), factor, float_of(max));
  const float step = scale_for(bits_of(norm), levels);
  lanes_quantise(x, count, step, RoundRandomly{draws, levels}, index,
                 static_cast<std::uint32_t>(levels), codes);
  return step;
}

CodeRange qsgd_add(const std::uint8_t* codes, std::size_t count, std::int32_t levels, float step,
                   float scale, float* acc) {
  return lanes_add_steps(codes, count, levels, step, scale, acc);
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/planes.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(qsgd_quantise);
HWY_EXPORT(qsgd_add);

constexpr unsigned kLevelsMax = 127;
constexpr std::uint16_t kBucketMin = 16;
constexpr std::uint16_t kBucketMax = kGranule;

class Qsgd final : public Codec {
 public:
  Qsgd(std::uint8_t levels, std::uint16_t bucket) : levels_(levels), bucket_(bucket) {}
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    const std::size_t rest = elements % bucket_;
    return sizeof(levels_) + sizeof(bucket_) + elements / bucket_ * bucket_bytes(bucket_, levels_) +
           (rest == 0 ? 0 : bucket_bytes(rest, levels_));
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
    const std::size_t start = out.size();
    const Draws draws = draws_of(context);
    std::array<std::uint8_t, kGranule> room;
    out.put(levels_);
    out.put(bucket_);
    for (std::size_t begin = 0; begin < x.size(); begin += bucket_) {
      const std::size_t size = std::min<std::size_t>(bucket_, x.size() - begin);
      const float step = HWY_DYNAMIC_DISPATCH(qsgd_quantise)(x.data() + begin, size, levels_, draws,
                                                             begin, room.data());
      if (step < 0) {
        out.truncate(start);
        return not_finite_error(x);
      }
      out.put(step);
      const unsigned bits = bits_of_levels(levels_);
      put_planes(std::span(room).first(size), bits, out.grow(planes_bytes(size, bits)));
    }
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    SHOAL_CHECK(!acc.empty() && acc.size() <= kGranule, "a granule at a time");
    std::uint8_t levels = 0;
    std::uint16_t bucket = 0;
    if (!in.get(levels) || !in.get(bucket)) {
      return truncated_error("qsgd");
    }
    if (levels == 0 || levels > kLevelsMax || bucket < kBucketMin || bucket > kBucketMax) {
      return foreign_error("qsgd", "impossible levels or an impossible bucket size");
    }
    for (std::size_t begin = 0; begin < acc.size(); begin += bucket) {
      SHOAL_TRY(add_bucket(in, levels, scale,
                           acc.subspan(begin, std::min<std::size_t>(bucket, acc.size() - begin))));
    }
    return {};
  }

 private:
  static unsigned bits_of_levels(std::uint8_t levels) {
    return static_cast<unsigned>(std::bit_width(2U * levels));
  }
  static std::size_t bucket_bytes(std::size_t size, std::uint8_t levels) {
    return sizeof(float) + planes_bytes(size, bits_of_levels(levels));
  }

  static Status add_bucket(ByteReader& in, std::uint8_t levels, float scale, std::span<float> acc) {
    float step = 0;
    ByteSpan planes;
    const unsigned bits = bits_of_levels(levels);
    if (!in.get(step) || !in.get_bytes(planes_bytes(acc.size(), bits), planes)) {
      return truncated_error("qsgd");
    }
    std::array<std::uint8_t, kGranule> room;
    const auto codes = std::span(room).first(acc.size());
    if (!scale_valid(step, levels) || !get_planes(planes, bits, codes)) {
      return foreign_error("qsgd", "a step out of range, or padding that is not zero");
    }
    const CodeRange range =
        HWY_DYNAMIC_DISPATCH(qsgd_add)(codes.data(), codes.size(), levels, step, scale, acc.data());
    if (range.max > 2U * levels || (step == 0 && (range.min != levels || range.max != levels))) {
      return foreign_error("qsgd", "a value out of range");
    }
    return {};
  }

  std::uint8_t levels_;
  std::uint16_t bucket_;
  Properties properties_{.wire_id = 8, .deterministic = false, .unbiased = true};
};

}  // namespace

CodecEntry qsgd_entry() {
  OptionSpec levels{.name = "levels",
                    .type = OptionType::kInt,
                    .default_value = std::int64_t{7},
                    .help = "steps from zero to the norm of a bucket",
                    .minimum = 1,
                    .maximum = kLevelsMax,
                    .choices = {},
                    .scope = Scope::kPeer};
  OptionSpec bucket{.name = "bucket",
                    .type = OptionType::kInt,
                    .default_value = std::int64_t{128},
                    .help = "elements that share a norm",
                    .minimum = kBucketMin,
                    .maximum = kBucketMax,
                    .choices = {},
                    .scope = Scope::kPeer};
  return {"qsgd",
          "random rounding to a few levels of each bucket's norm, without bias",
          {std::move(levels), std::move(bucket)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Qsgd>(static_cast<std::uint8_t>(options.get_int("levels")),
                                          static_cast<std::uint16_t>(options.get_int("bucket")));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
