// Blocks of 4-bit integers with a float32 scale each.
//
// A granule: u16 block size, then per block of n elements f32 scale = max|x| / 7 and (n + 1) / 2
// bytes, of which byte j holds elements j (low) and j + (n + 1) / 2 (high; 0 where there is none)
// as q + 8, x ~ q * scale, rounded to nearest even or at random. Values of q are -7..7.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/int4.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

template <bool kDivide, class Round>
struct Int4Quantise {
  BlockStep step;
  Round round;

  HWY_INLINE hn::Vec<Words> lanes(const float* x, std::size_t index) const {
    const Floats floats;
    const auto steps = lanes_to_steps<kDivide>(hn::LoadU(floats, x), hn::Set(floats, step.factor));
    // Of 4 bits, adding 8 changes the highest.
    return hn::Xor(round.lanes(steps, index), hn::Set(Words(), kInt4Zero));
  }
  std::uint32_t one(const float* x, std::size_t index) const {
    return static_cast<std::uint32_t>(round.one(to_steps(*x, step), index)) + kInt4Zero;
  }
};

template <class Round>
HWY_INLINE bool int4_encode_blocks(const float* x, std::size_t count, std::size_t block,
                                   Round round, std::byte* out) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    const std::uint32_t max = lanes_abs_max(x + begin, size);
    if (max >= kInfBits) {
      return false;
    }
    const float scale = scale_for(max, kInt4Max);
    std::memcpy(out, &scale, sizeof(scale));
    out += sizeof(scale);
    if (max == 0) {
      pack_nibbles(ConstantCode{kInt4Zero}, x + begin, begin, size, out);
    } else if (const BlockStep step(scale); step.divide) {
      pack_nibbles(Int4Quantise<true, Round>{step, round}, x + begin, begin, size, out);
    } else {
      pack_nibbles(Int4Quantise<false, Round>{step, round}, x + begin, begin, size, out);
    }
    out += nibble_bytes(size);
  }
  return true;
}

/// Writes blocks of scale and values, rounded to nearest if `draws` is null. Returns whether all of
/// x was finite.
bool int4_encode(const float* x, std::size_t count, std::size_t block, const Draws* draws,
                 std::byte* out) {
  return draws == nullptr
             ? int4_encode_blocks(x, count, block, RoundNearest(), out)
             : int4_encode_blocks(x, count, block, RoundRandomly{*draws, kInt4Max}, out);
}

struct Int4Value {
  float block_scale;

  template <class W>
  HWY_INLINE hn::Vec<Floats> lanes(W code) const {
    const Floats floats;
    const auto q = hn::Sub(hn::BitCast(Ints(), code), hn::Set(Ints(), kInt4Zero));
    return hn::Mul(hn::ConvertTo(floats, q), hn::Set(floats, block_scale));
  }
  float one(std::uint32_t code) const {
    return static_cast<float>(static_cast<std::int32_t>(code - kInt4Zero)) * block_scale;
  }
};

/// Whether all codes are that of zero.
HWY_INLINE bool int4_zeros(const std::byte* in, std::size_t count) {
  const auto zeros = static_cast<std::byte>(kInt4Zero << 4 | kInt4Zero);
  return std::all_of(in, in + count / 2, [zeros](std::byte both) { return both == zeros; }) &&
         (count % 2 == 0 || in[count / 2] == static_cast<std::byte>(kInt4Zero));
}

/// Returns whether the blocks are such as an encoder writes.
bool int4_decode_add(const std::byte* in, std::size_t block, float scale, float* acc,
                     std::size_t count) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    float block_scale = 0;
    std::memcpy(&block_scale, in, sizeof(block_scale));
    in += sizeof(block_scale);
    if (!scale_valid(block_scale, kInt4Max)) {
      return false;
    }
    const std::uint32_t min = add_nibbles(Int4Value{block_scale}, in, size, scale, acc + begin);
    if (min == 0 || min > 15 || (block_scale == 0 && !int4_zeros(in, size))) {
      return false;
    }
    in += nibble_bytes(size);
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

HWY_EXPORT(int4_encode);
HWY_EXPORT(int4_decode_add);

constexpr std::uint16_t kBlockMin = 32;
constexpr std::uint16_t kBlockMax = kGranule;

class Int4 final : public Codec {
 public:
  Int4(std::uint16_t block, bool randomly) : block_(block), randomly_(randomly) {
    // Let M be the block's largest and s its step, M / 7 or, of 8 ulps, M / 4. An error is at most
    // s / 2 and no larger than the value itself; that of M is at most M / 8. What is lost is then
    // at most (1/64 + r) / (1 + r) of the whole, r = block * (s / 2M)^2 = block / 64. At random
    // nothing holds: an error is up to a step, of the smallest value too.
    properties_.contraction = randomly ? 0 : 0.98 / (1 + block / 64.0);
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
    if (!HWY_DYNAMIC_DISPATCH(int4_encode)(x.data(), x.size(), block_, randomly_ ? &draws : nullptr,
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
      return truncated_error("int4");
    }
    if (block < kBlockMin || block > kBlockMax) {
      return foreign_error("int4", "an impossible block size");
    }
    if (!in.get_bytes(body_bytes(acc.size(), block), body)) {
      return truncated_error("int4");
    }
    if (!HWY_DYNAMIC_DISPATCH(int4_decode_add)(body.data(), block, scale, acc.data(), acc.size())) {
      return foreign_error("int4", "a scale or value out of range");
    }
    return {};
  }

 private:
  static std::size_t body_bytes(std::size_t elements, std::size_t block) {
    const std::size_t rest = elements % block;
    return elements / block * (sizeof(float) + nibble_bytes(block)) +
           (rest == 0 ? 0 : sizeof(float) + nibble_bytes(rest));
  }

  std::uint16_t block_;
  bool randomly_;
  Properties properties_{.wire_id = 6};
};

}  // namespace

CodecEntry int4_entry() {
  return {"int4",
          "4-bit integers in blocks with a scale each",
          {block_option(128, kBlockMin), rounding_option()},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<Int4>(static_cast<std::uint16_t>(options.get_int("block")),
                                          rounds_randomly(options));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
