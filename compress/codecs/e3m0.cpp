// Blocks of 4-bit floats: a sign and a power of two out of seven, or zero.
//
// A granule: u16 block size, then per block of n elements u16 base + 149 and (n + 1) / 2 bytes, of
// which byte j holds elements j (low) and j + (n + 1) / 2 (high; 0 where there is none) as sign 1
// and magnitude 3 bits: 0 is zero, c is 2^(base + c - 1). The largest is 2^(base + 6): next to the
// block's largest, or, at random, the next one above. Rounded to the nearest in the linear sense,
// ties away from zero, or at random. No value is more than 2^127, whatever is nearest.
// Source: the 4-bit exponent-only floats of Douillard et al., "Streaming DiLoCo with overlapping
// communication", arXiv 2501.18512, section 2.3; the scale is ours.
#include "ops/cpu/fixed_width.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/codecs/e3m0.cpp"
#include <hwy/foreach_target.h>  // before highway.h
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include "compress/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::compress::HWY_NAMESPACE {

/// What decides which way an element is rounded (see to_e3m0).
struct E3m0Half {
  HWY_INLINE hn::Vec<Words> lanes(std::size_t /*index*/) const {
    return hn::Set(Words(), kE3m0Nearest);
  }
  std::uint32_t one(std::size_t /*index*/) const { return kE3m0Nearest; }
};
struct E3m0Drawn {
  Draws draws;

  HWY_INLINE hn::Vec<Words> lanes(std::size_t index) const {
    return hn::ShiftRight<9>(lanes_draws(draws, index));
  }
  std::uint32_t one(std::size_t index) const { return draws(index) >> 9; }
};

template <class Add>
struct E3m0Quantise {
  E3m0Unit unit;
  Add add;

  HWY_INLINE hn::Vec<Words> lanes(const float* x, std::size_t index) const {
    const Floats floats;
    const Words words;
    const auto raw = hn::LoadU(floats, x);
    const auto units =
        hn::Mul(hn::Mul(hn::Abs(raw), hn::Set(floats, unit.first)), hn::Set(floats, unit.second));
    const auto fixed = hn::ConvertTo(Ints(), hn::Mul(units, hn::Set(floats, 0x1p23F)));
    const auto above = hn::Sub(hn::BitCast(words, units), hn::Set(words, 126U << 23));
    const auto below = hn::RebindMask(words, hn::Lt(units, hn::Set(floats, 1)));
    const auto joined = hn::IfThenElse(below, hn::BitCast(words, fixed), above);
    const auto code = hn::ShiftRight<23>(hn::Add(joined, add.lanes(index)));
    const auto sign = hn::ShiftLeft<3>(hn::ShiftRight<31>(hn::BitCast(words, raw)));
    return hn::Or(hn::Min(code, hn::Set(words, kE3m0Top)), sign);
  }
  std::uint32_t one(const float* x, std::size_t index) const {
    return to_e3m0(*x, unit, add.one(index)) | bits_of(*x) >> 31 << 3;
  }
};

template <class Add>
HWY_INLINE bool e3m0_encode_blocks(const float* x, std::size_t count, std::size_t block, Add add,
                                   bool above, std::byte* out) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    const std::uint32_t max = lanes_abs_max(x + begin, size);
    if (max >= kInfBits) {
      return false;
    }
    const int base = e3m0_base(max, above);
    const auto field = static_cast<std::uint16_t>(base - kE3m0BaseMin);
    std::memcpy(out, &field, sizeof(field));
    out += sizeof(field);
    pack_nibbles(E3m0Quantise<Add>{E3m0Unit(base), add}, x + begin, begin, size, out);
    out += nibble_bytes(size);
  }
  return true;
}

/// Writes blocks of base and codes, rounded to nearest if `draws` is null. Returns whether all of
/// x was finite.
bool e3m0_encode(const float* x, std::size_t count, std::size_t block, const Draws* draws,
                 std::byte* out) {
  return draws == nullptr ? e3m0_encode_blocks(x, count, block, E3m0Half(), false, out)
                          : e3m0_encode_blocks(x, count, block, E3m0Drawn{*draws}, true, out);
}

struct E3m0Value {
  float base;

  template <class W>
  HWY_INLINE hn::Vec<Floats> lanes(W code) const {
    const Floats floats;
    const Words words;
    const auto magnitude = hn::And(code, hn::Set(words, kE3m0Top));
    const auto power = hn::ShiftLeft<23>(hn::Add(magnitude, hn::Set(words, 126)));
    const auto value = hn::Mul(hn::BitCast(floats, power), hn::Set(floats, base));
    const auto some = hn::Gt(magnitude, hn::Zero(words));
    const auto sign = hn::ShiftLeft<31>(hn::ShiftRight<3>(code));
    return hn::BitCast(floats, hn::Or(hn::IfThenElseZero(some, hn::BitCast(words, value)), sign));
  }
  float one(std::uint32_t code) const {
    const float magnitude = from_e3m0(code & kE3m0Top, base);
    return code > kE3m0Top ? -magnitude : magnitude;
  }
};

/// Returns whether the blocks are such as an encoder writes.
bool e3m0_decode_add(const std::byte* in, std::size_t block, float scale, float* acc,
                     std::size_t count) {
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t size = std::min(block, count - begin);
    std::uint16_t field = 0;
    std::memcpy(&field, in, sizeof(field));
    in += sizeof(field);
    const int base = field + kE3m0BaseMin;
    if (base > kE3m0BaseMax) {
      return false;
    }
    if (add_nibbles(E3m0Value{power_of_two(base)}, in, size, scale, acc + begin) > 15) {
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

HWY_EXPORT(e3m0_encode);
HWY_EXPORT(e3m0_decode_add);

constexpr std::uint16_t kBlockMin = 32;
constexpr std::uint16_t kBlockMax = kGranule;

class E3m0 final : public Codec {
 public:
  E3m0(std::uint16_t block, bool randomly) : block_(block), randomly_(randomly) {
    // Of values above the smallest power at most a third is lost, or half of those above 2^127: a
    // quarter of their energy. Of the others no more than themselves and half that power: 2^-7 of
    // the largest, which is at most 4/3 of the block's largest M, so r M^2 in all, r = block /
    // 9216. Together (1/4 + r) / (1 + r). At random small values may be made much larger.
    properties_.contraction = randomly ? 0 : 0.75 / (1 + block / 9216.0);
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
    if (!HWY_DYNAMIC_DISPATCH(e3m0_encode)(x.data(), x.size(), block_, randomly_ ? &draws : nullptr,
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
      return truncated_error("e3m0");
    }
    if (block < kBlockMin || block > kBlockMax) {
      return foreign_error("e3m0", "an impossible block size");
    }
    if (!in.get_bytes(body_bytes(acc.size(), block), body)) {
      return truncated_error("e3m0");
    }
    if (!HWY_DYNAMIC_DISPATCH(e3m0_decode_add)(body.data(), block, scale, acc.data(), acc.size())) {
      return foreign_error("e3m0", "a base out of range, or padding that is not zero");
    }
    return {};
  }

 private:
  static std::size_t body_bytes(std::size_t elements, std::size_t block) {
    const std::size_t rest = elements % block;
    return elements / block * (sizeof(std::uint16_t) + nibble_bytes(block)) +
           (rest == 0 ? 0 : sizeof(std::uint16_t) + nibble_bytes(rest));
  }

  std::uint16_t block_;
  bool randomly_;
  Properties properties_{.wire_id = 7};
};

}  // namespace

CodecEntry e3m0_entry() {
  return {"e3m0",
          "4-bit floats, a sign and a power of two, in blocks",
          {block_option(64, kBlockMin), rounding_option()},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<E3m0>(static_cast<std::uint16_t>(options.get_int("block")),
                                          rounds_randomly(options));
          }};
}

}  // namespace shoal::compress
#endif  // HWY_ONCE
