// Blocks of 8-bit integers with a float32 scale each.
//
// A granule: u16 block size, then per block f32 scale = max|x| / 127 and one int8 an element,
// x ~ q * scale, rounded to nearest even or at random. Values of q are -127..127.
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

template <class Round>
HWY_INLINE bool int8_encode_blocks(const float* x, std::size_t count, std::size_t block,
                                   Round round, std::byte* out) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    const std::uint32_t max = lanes_abs_max(x + begin, size);
    if (max >= kInfBits) {
      return false;
    }
    const float scale = scale_for(max, kInt8Max);
    std::memcpy(out, &scale, sizeof(scale));
    out += sizeof(scale);
    lanes_quantise(x + begin, size, scale, round, begin, 0, reinterpret_cast<std::uint8_t*>(out));
    out += size;
  }
  return true;
}

/// Writes blocks of scale and values, rounded to nearest if `draws` is null. Returns whether all of
/// x was finite.
bool int8_encode(const float* x, std::size_t count, std::size_t block, const Draws* draws,
                 std::byte* out) {
  return draws == nullptr
             ? int8_encode_blocks(x, count, block, RoundNearest(), out)
             : int8_encode_blocks(x, count, block, RoundRandomly{*draws, kInt8Max}, out);
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
    if (!scale_valid(block_scale, kInt8Max)) {
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
  Int8(std::uint16_t block, bool randomly) : block_(block), randomly_(randomly) {
    // Each error is at most half a step (and what the reciprocal adds), a step at most 1/127 of
    // the block's largest; of a denormal block 1/127 in all, since steps round up to an ulp. At
    // random an error is up to a step, and that up to 2 of 128 ulps.
    properties_.contraction = randomly ? 1 - static_cast<double>(block) / (64.0 * 64.0)
                                       : 1 - static_cast<double>(block) / (127.0 * 127.0);
    properties_.deterministic = !randomly;
    properties_.unbiased = randomly;
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sizeof(block_) + body_bytes(elements, block_);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    const std::size_t start = out.size();
    out.put(block_);
    const auto room = out.grow(body_bytes(x.size(), block_));
    const Draws draws = draws_of(context);
    if (!HWY_DYNAMIC_DISPATCH(int8_encode)(x.data(), x.size(), block_, randomly_ ? &draws : nullptr,
                                           room.data())) {
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
  bool randomly_;
  Properties properties_{.wire_id = 3};
};

}  // namespace

CodecEntry int8_entry() {
  return {"int8",
          "8-bit integers in blocks with a scale each",
          {block_option(256, kBlockMin), rounding_option()},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Int8>(static_cast<std::uint16_t>(options.get_int("block")),
                                          rounds_randomly(options));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
