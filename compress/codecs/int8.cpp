// Blocks of 8-bit integers with a float32 scale each.
//
// A granule: u16 block size, then per block f32 scale = max|x| / 127 and one int8 an element,
// x ~ q * scale, rounded to nearest even. Values of q are -127..127.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/int8.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

using Octets = hn::Rebind<std::int8_t, Floats>;

template <bool kDivide>
HWY_INLINE void int8_encode_block(const float* x, std::size_t count, Int8Step block_step,
                                  std::int8_t* out) {
  const Floats floats;
  const Words words;
  const Ints ints;
  const Octets octets;
  const std::size_t step = hn::Lanes(floats);
  const auto factor = hn::Set(floats, block_step.factor);
  const auto high = hn::Set(floats, kInt8Max);
  const auto low = hn::Set(floats, -kInt8Max);
  const auto magic = hn::Set(floats, kRoundingMagic);
  const auto magic_bits = hn::Set(words, kRoundingMagicBits);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto raw = hn::LoadU(floats, x + i);
    auto steps = kDivide ? hn::Div(raw, factor) : hn::Mul(raw, factor);
    steps = hn::Max(low, hn::Min(steps, high));
    const auto q = hn::Sub(hn::BitCast(words, hn::Add(steps, magic)), magic_bits);
    hn::StoreU(hn::DemoteTo(octets, hn::BitCast(ints, q)), octets, out + i);
  }
  for (; i < count; ++i) {
    out[i] = to_int8(x[i], block_step);
  }
}

/// Writes blocks of scale and values. Returns whether all of x was finite.
bool int8_encode(const float* x, std::size_t count, std::size_t block, std::byte* out) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    const std::uint32_t max = lanes_abs_max(x + begin, size);
    if (max >= kInfBits) {
      return false;
    }
    const float scale = int8_scale(max);
    std::memcpy(out, &scale, sizeof(scale));
    out += sizeof(scale);
    auto* q = reinterpret_cast<std::int8_t*>(out);
    if (max == 0) {
      std::memset(q, 0, size);
    } else if (const Int8Step step(scale); step.divide) {
      int8_encode_block<true>(x + begin, size, step, q);
    } else {
      int8_encode_block<false>(x + begin, size, step, q);
    }
    out += size;
  }
  return true;
}

/// Returns the smallest q.
HWY_INLINE int int8_decode_block(const std::int8_t* q, std::size_t count, float block_scale,
                                 float scale, float* acc) {
  const Floats floats;
  const Ints ints;
  const Octets octets;
  const std::size_t step = hn::Lanes(floats);
  const auto block_scales = hn::Set(floats, block_scale);
  const auto scales = hn::Set(floats, scale);
  auto lanes_min = hn::Zero(ints);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const auto wide = hn::PromoteTo(ints, hn::LoadU(octets, q + i));
    lanes_min = hn::Min(lanes_min, wide);
    lanes_add_scaled(acc + i, scales, hn::Mul(hn::ConvertTo(floats, wide), block_scales));
  }
  int min = hn::GetLane(hn::MinOfLanes(ints, lanes_min));
  for (; i < count; ++i) {
    min = std::min<int>(min, q[i]);
    add_scaled(acc[i], scale, from_int8(q[i], block_scale));
  }
  return min;
}

/// Returns whether the blocks are such as an encoder writes.
bool int8_decode_add(const std::byte* in, std::size_t block, float scale, float* acc,
                     std::size_t count) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    float block_scale = 0;
    std::memcpy(&block_scale, in, sizeof(block_scale));
    in += sizeof(block_scale);
    if (!int8_scale_valid(block_scale)) {
      return false;
    }
    const auto* q = reinterpret_cast<const std::int8_t*>(in);
    if (block_scale == 0 && std::any_of(q, q + size, [](std::int8_t v) { return v != 0; })) {
      return false;
    }
    if (int8_decode_block(q, size, block_scale, scale, acc + begin) < -127) {
      return false;
    }
    in += size;
  }
  return true;
}

}  // namespace shoal::compress::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compress/codec.h"
#include "compress/codecs/common.h"

namespace shoal::compress {
namespace {

HWY_EXPORT(int8_encode);
HWY_EXPORT(int8_decode_add);

constexpr std::uint16_t kBlockMin = 16;
constexpr std::uint16_t kBlockMax = kGranule;

class Int8 final : public Codec {
 public:
  explicit Int8(std::uint16_t block) : block_(block) {
    // Each error is at most half a step (and what the reciprocal adds), a step at most 1/127 of
    // the block's largest; of a denormal block 1/127 in all, since steps round up to an ulp.
    properties_.contraction = 1 - static_cast<double>(block) / (127.0 * 127.0);
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sizeof(block_) + body_bytes(elements, block_);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    const std::size_t start = out.size();
    out.put(block_);
    const auto room = out.grow(body_bytes(x.size(), block_));
    if (!HWY_DYNAMIC_DISPATCH(int8_encode)(x.data(), x.size(), block_, room.data())) {
      out.truncate(start);
      return not_finite_error(x);
    }
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    std::uint16_t block = 0;
    ByteSpan body;
    if (!in.get(block)) {
      return truncated_error("int8");
    }
    if (block < kBlockMin || block > kBlockMax) {
      return foreign_error("int8", "an impossible block size");
    }
    if (!in.get_bytes(body_bytes(acc.size(), block), body)) {
      return truncated_error("int8");
    }
    if (!HWY_DYNAMIC_DISPATCH(int8_decode_add)(body.data(), block, scale, acc.data(), acc.size())) {
      return foreign_error("int8", "a scale or value out of range");
    }
    return {};
  }

 private:
  static std::size_t body_bytes(std::size_t elements, std::size_t block) {
    return elements + sizeof(float) * ((elements + block - 1) / block);
  }

  std::uint16_t block_;
  Properties properties_{.wire_id = 3};
};

}  // namespace

CodecEntry int8_entry() {
  OptionSpec block{.name = "block",
                   .type = OptionType::kInt,
                   .default_value = std::int64_t{256},
                   .help = "elements that share a scale",
                   .minimum = kBlockMin,
                   .maximum = kBlockMax,
                   .choices = {},
                   .scope = Scope::kPeer};
  return {"int8",
          "8-bit integers in blocks with a scale each",
          {std::move(block)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Int8>(static_cast<std::uint16_t>(options.get_int("block")));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
