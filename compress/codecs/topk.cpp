// The largest values of a granule: Rice-coded gaps between their indices, and their values as
// int8 (default), bfloat16 or float32.
//
// A granule, in bits, lowest first: kind 2 (int8, bf16, fp32, empty); unless empty: Rice
// parameter 4, count - 1 12 and, for int8, scale 12; the gaps; zeros up to a whole byte; then the
// values. The header has at most 30 bits. A gap is the number of values left out before a kept
// one. A scale is a small float of 9 exponent and 3 fraction bits in units of 2^-149 (see below),
// rounded up from max / 127, so that no fp32 value is out of its reach.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/index_coding.h"
#include "compress/select.h"

namespace shoal::compress {
namespace {

enum class Values : std::uint8_t { kInt8, kBf16, kFp32, kEmpty };

constexpr unsigned kKindBits = 2;
constexpr unsigned kParameterBits = 4;
constexpr unsigned kScaleBits = 12;
constexpr std::size_t kHeaderBits = kKindBits + kParameterBits + kGapBits + kScaleBits;
static_assert(kHeaderBits <= 30);

/// Below this magnitude bfloat16 may round all of a granule to zero; int8 with its scale does not.
constexpr std::uint32_t kBf16MaxMin = 27U << 23;  // 2^-100

std::size_t value_bytes(Values values) {
  return values == Values::kInt8 ? 1 : values == Values::kBf16 ? 2 : 4;
}

/// Value of a scale code: f for exponent e = 0, else (8 + f) * 2^(e-1), times 2^-149.
float scale_of(std::uint32_t code) {
  const std::uint32_t exponent = code >> 3;
  const std::uint32_t fraction = exponent == 0 ? code & 7 : 8 + (code & 7);
  const std::uint32_t shift = exponent == 0 ? 0 : exponent - 1;
  if (shift < 20) {  // a denormal float is a multiple of 2^-149 by itself
    return float_of(fraction << shift);
  }
  if (shift - 19 >= 255) {
    return float_of(kInfBits);
  }
  return float_of((shift - 19) << 23 | (fraction - 8) << 20);
}

/// Smallest code whose value is at least `scale`.
std::uint32_t scale_code(float scale) {
  const std::uint32_t bits = bits_of(scale);
  const std::uint32_t exponent = bits >> 23;
  std::uint32_t fraction = bits & 0x7fffff;
  std::uint32_t shift = 0;
  if (exponent > 0) {
    fraction |= 1U << 23;
    shift = exponent - 1;
  }
  if (fraction < 16) {
    return fraction;
  }
  const auto drop = static_cast<std::uint32_t>(std::bit_width(fraction)) - 4;
  const std::uint32_t rounded = (fraction + (1U << drop) - 1) >> drop;
  // A fraction rounded up to 16 carries into the exponent by itself.
  return ((shift + drop + 1) << 3) + (rounded - 8);
}

/// Code of the scale for values up to `max`; near the largest float one that 127 fit in.
std::uint32_t scale_code_for(std::uint32_t max) {
  const std::uint32_t code = scale_code(int8_scale(max));
  return int8_scale_valid(scale_of(code)) ? code : code - 1;
}

float from_wire(std::int8_t value, float step) { return from_int8(value, step); }
float from_wire(std::uint16_t value, float) { return from_bf16(value); }
float from_wire(float value, float) { return value; }

/// Rounds the kept values into `bytes`; those that become zero are dropped. Returns how many stay.
template <typename T, typename Round>
std::size_t round_values(std::span<const float> x, std::span<std::uint16_t> indices,
                         std::byte* bytes, Round round) {
  std::size_t count = 0;
  for (const std::uint16_t index : indices) {
    const T value = round(x[index]);
    indices[count] = index;
    std::memcpy(bytes + count * sizeof(T), &value, sizeof(T));
    count += from_wire(value, 1) != 0 ? 1 : 0;
  }
  return count;
}

/// acc[index] += scale * value. False for a value that no encoder writes.
template <typename T>
bool add_values(ByteSpan bytes, float step, std::span<const std::uint16_t> indices, float scale,
                std::span<float> acc) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    const float x = from_wire(value, step);
    if (x == 0 || !is_finite(x) || (std::is_same_v<T, std::int8_t> && value < -kInt8Max)) {
      return false;
    }
    add_scaled(acc[indices[i]], scale, x);
  }
  return true;
}

/// What stands before the values.
struct Head {
  Values values = Values::kEmpty;
  std::uint32_t scale_code = 0;
  std::span<const std::uint16_t> indices;
};

std::size_t head_bytes_max(std::size_t count, std::size_t elements) {
  return (kHeaderBits + rice_bits_max(count, elements) + 7) / 8;
}

void write_head(const Head& head, std::size_t elements, ByteWriter& out) {
  const std::size_t count = head.indices.size();
  std::array<std::uint16_t, kGranule> gaps;
  for (std::size_t i = 0; i < count; ++i) {
    const int next = i == 0 ? 0 : head.indices[i - 1] + 1;
    gaps[i] = static_cast<std::uint16_t>(head.indices[i] - next);
  }
  const std::span<const std::uint16_t> used(gaps.data(), count);
  const unsigned k = rice_parameter(used);

  const std::size_t start = out.size();
  BitWriter bits(out.grow(head_bytes_max(count, elements)));
  bits.put(static_cast<std::uint32_t>(head.values), kKindBits);
  bits.put(k, kParameterBits);
  bits.put(static_cast<std::uint32_t>(count - 1), kGapBits);
  if (head.values == Values::kInt8) {
    bits.put(head.scale_code, kScaleBits);
  }
  for (const std::uint16_t gap : used) {
    rice_put(bits, gap, k);
  }
  out.truncate(start + bits.finish());
}

/// Reads a head of `elements` elements; its indices lie in `room`.
Status read_head(ByteReader& in, std::size_t elements, std::span<std::uint16_t> room, Head& head) {
  BitReader bits(in.rest());
  std::uint32_t kind = 0;
  std::uint32_t k = 0;
  std::uint32_t last = 0;
  if (!bits.get(kKindBits, kind)) {
    return truncated_error("topk");
  }
  head.values = static_cast<Values>(kind);
  if (head.values != Values::kEmpty) {
    if (!bits.get(kParameterBits, k) || !bits.get(kGapBits, last) ||
        (head.values == Values::kInt8 && !bits.get(kScaleBits, head.scale_code))) {
      return truncated_error("topk");
    }
    if (k > kRiceParameterMax || last >= elements) {
      return foreign_error("topk", "a header out of range");
    }
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i <= last; ++i) {
      std::uint32_t gap = 0;
      if (!rice_get(bits, k, gap) || next + gap >= elements) {
        return foreign_error("topk", "an index out of range");
      }
      room[i] = static_cast<std::uint16_t>(next + gap);
      next += gap + 1;
    }
    head.indices = room.first(last + 1);
  }
  std::size_t size = 0;
  ByteSpan read;
  if (!bits.finish(size) || !in.get_bytes(size, read)) {
    return foreign_error("topk", "padding that is not zero");
  }
  return {};
}

class TopK final : public Codec {
 public:
  TopK(double density, Values values) : density_(density), values_(values) {
    // Of n values at least 7/8 of density * n are kept, unless the others are zero, and none left
    // out is larger, so they hold that share of |x|^2. Rounding c <= 4096 kept values to int8 errs
    // by at most half a scale each, and by no more than the value itself: by r / (1 + r) of their
    // energy, r = c (scale / 2 max)^2. A scale is at most 9/8 max/127, or, of a few ulps, 2/128:
    // r <= 1/4, and 7/8 * (1 - 1/5) = 0.7. bf16 errs less.
    properties_.contraction = 0.7 * density;
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }

  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    const std::size_t kept = KeepCount(density_, elements).high;
    return head_bytes_max(kept, elements) + kept * value_bytes(values_);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext&,
                              ByteWriter& out) const override {
    SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
    const std::uint32_t max = abs_max(x);
    if (max >= kInfBits) {
      return not_finite_error(x);
    }
    if (max == 0) {
      out.put(Values::kEmpty);
      return {};
    }
    std::array<std::uint16_t, kGranule> indices;
    std::array<std::byte, kGranule * sizeof(float)> bytes;
    const std::span<std::uint16_t> kept = std::span<std::uint16_t>(indices).first(
        select_largest(x, KeepCount(density_, x.size()), indices));
    Head head;
    head.values = values_ == Values::kBf16 && max < kBf16MaxMin ? Values::kInt8 : values_;
    head.scale_code = scale_code_for(max);
    std::size_t count = 0;
    if (head.values == Values::kInt8) {
      const Int8Step step(scale_of(head.scale_code));
      count = round_values<std::int8_t>(x, kept, bytes.data(),
                                        [&](float v) { return to_int8(v, step); });
    } else if (head.values == Values::kBf16) {
      count = round_values<std::uint16_t>(x, kept, bytes.data(), to_bf16);
    } else {
      count = round_values<float>(x, kept, bytes.data(), [](float v) { return v; });
    }
    head.indices = kept.first(count);
    write_head(head, x.size(), out);
    out.put_bytes(ByteSpan(bytes).first(count * value_bytes(head.values)));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext&, float scale,
                                  std::span<float> acc) const override {
    SHOAL_CHECK(!acc.empty() && acc.size() <= kGranule, "a granule at a time");
    std::array<std::uint16_t, kGranule> room;
    Head head;
    SHOAL_TRY(read_head(in, acc.size(), room, head));
    if (head.values == Values::kEmpty) {
      return {};
    }
    ByteSpan bytes;
    if (!in.get_bytes(head.indices.size() * value_bytes(head.values), bytes)) {
      return truncated_error("topk");
    }
    const float step = scale_of(head.scale_code);
    if (!int8_scale_valid(step)) {
      return foreign_error("topk", "a scale out of range");
    }
    const bool good = head.values == Values::kInt8
                          ? add_values<std::int8_t>(bytes, step, head.indices, scale, acc)
                      : head.values == Values::kBf16
                          ? add_values<std::uint16_t>(bytes, 0, head.indices, scale, acc)
                          : add_values<float>(bytes, 0, head.indices, scale, acc);
    return good ? Status{} : foreign_error("topk", "a value out of range");
  }

 private:
  double density_;
  Values values_;
  Properties properties_{.wire_id = 4};
};

std::unique_ptr<Codec> make_topk(const Options& options) {
  const std::string& values = options.get_string("values");
  return std::make_unique<TopK>(options.get_float("density"), values == "int8"   ? Values::kInt8
                                                              : values == "bf16" ? Values::kBf16
                                                                                 : Values::kFp32);
}

}  // namespace

CodecEntry topk_entry() {
  OptionSpec density{.name = "density",
                     .type = OptionType::kFloat,
                     .default_value = 0.01,
                     .help = "share of the values that is sent",
                     .minimum = 1e-6,
                     .maximum = 1.0,
                     .choices = {},
                     .scope = Scope::kPeer};
  OptionSpec values{.name = "values",
                    .type = OptionType::kString,
                    .default_value = std::string("int8"),
                    .help = "how kept values are written",
                    .minimum = {},
                    .maximum = {},
                    .choices = {"int8", "bf16", "fp32"},
                    .scope = Scope::kPeer};
  return {"topk",
          "the largest values of each granule and their Rice-coded places",
          {std::move(density), std::move(values)},
          make_topk};
}

}  // namespace shoal::compress
