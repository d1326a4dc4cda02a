#include "compress/sparse_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compress/codecs/common.h"
#include "compress/index_coding.h"

namespace shoal::compress {
namespace {

constexpr unsigned kKindBits = 2;
constexpr std::size_t kHeaderBits = kKindBits + kIndexCodeBits + kGapBits + kShortScaleBits;
static_assert(kHeaderBits <= 30);

/// Below this magnitude bfloat16 may round all of a granule to zero; int8 with its scale does not.
constexpr std::uint32_t kBf16MaxMin = 27U << 23;  // 2^-100

std::size_t value_bytes(SparseValues values) {
  return values == SparseValues::kInt8 ? 1 : values == SparseValues::kBf16 ? 2 : 4;
}

/// Smallest code whose value is at least `scale`.
std::uint32_t code_above(float scale) {
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
  SparseValues values = SparseValues::kEmpty;
  std::uint32_t scale_code = 0;
  std::span<const std::uint16_t> indices;
};

std::size_t head_bytes_max(std::size_t count, std::size_t elements) {
  return (kHeaderBits + index_bits_max(count, elements) + 7) / 8;
}

void write_head(const Head& head, std::size_t elements, ByteWriter& out) {
  const std::size_t count = head.indices.size();
  const IndexCode code(head.indices);
  const std::size_t start = out.size();
  BitWriter bits(out.grow(head_bytes_max(count, elements)));
  bits.put(static_cast<std::uint32_t>(head.values), kKindBits);
  bits.put(code.code(), kIndexCodeBits);
  bits.put(static_cast<std::uint32_t>(count - 1), kGapBits);
  if (head.values == SparseValues::kInt8) {
    bits.put(head.scale_code, kShortScaleBits);
  }
  code.put(bits);
  out.truncate(start + bits.finish());
}

/// Reads a head of `elements` elements; its indices lie in `room`.
Status read_head(const char* codec, ByteReader& in, std::size_t elements,
                 std::span<std::uint16_t> room, Head& head) {
  BitReader bits(in.rest());
  std::uint32_t kind = 0;
  std::uint32_t code = 0;
  std::uint32_t last = 0;
  if (!bits.get(kKindBits, kind)) {
    return truncated_error(codec);
  }
  head.values = static_cast<SparseValues>(kind);
  if (head.values != SparseValues::kEmpty) {
    if (!bits.get(kIndexCodeBits, code) || !bits.get(kGapBits, last) ||
        (head.values == SparseValues::kInt8 && !bits.get(kShortScaleBits, head.scale_code))) {
      return truncated_error(codec);
    }
    if (last >= elements || !get_indices(bits, code, elements, room.first(last + 1))) {
      return foreign_error(codec, "a header or an index out of range");
    }
    head.indices = room.first(last + 1);
  }
  std::size_t size = 0;
  ByteSpan read;
  if (!bits.finish(size) || !in.get_bytes(size, read)) {
    return foreign_error(codec, "padding that is not zero");
  }
  return {};
}

}  // namespace

float short_scale(std::uint32_t code) {
  // f for exponent e = 0, else (8 + f) * 2^(e-1), times 2^-149.
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

std::uint32_t short_scale_code(std::uint32_t max_bits, float levels) {
  const float max = float_of(max_bits);
  float step = max / levels;
  if (levels * step < max) {
    step = float_of(bits_of(step) + 1);
  }
  const std::uint32_t code = code_above(step);
  return is_finite(levels * short_scale(code)) ? code : code - 1;
}

double sparse_contraction(bool exact) {
  // Of n values at least 7/8 of density * n are kept (exactly: all), unless the others are zero,
  // and none left out is larger, so they hold that share of |x|^2. Rounding c <= 4096 kept values
  // to int8 errs by at most half a scale each, and by no more than the value itself: by r / (1 + r)
  // of their energy, r = c (scale / 2 max)^2. A scale is at most 9/8 max/127, or, of a few ulps,
  // 2/128: r <= 1/4, and 7/8 * (1 - 1/5) = 0.7. bf16 errs less.
  return exact ? 0.8 : 0.7;
}

std::size_t sparse_bytes_max(const SparseOptions& options, std::size_t elements) {
  const KeepCount keep(options.density, elements);
  const std::size_t kept = options.exact ? keep.aim : keep.high;
  return head_bytes_max(kept, elements) + kept * value_bytes(options.values);
}

Status sparse_encode(std::span<const float> x, const SparseOptions& options, ByteWriter& out) {
  SHOAL_CHECK(!x.empty() && x.size() <= kGranule, "a granule at a time");
  std::array<std::uint16_t, kGranule> indices;
  std::array<std::byte, kGranule * sizeof(float)> bytes;
  const KeepCount keep(options.density, x.size());
  const Selection found =
      options.exact ? select_exactly(x, keep, indices) : select_largest(x, keep, indices);
  if (found.max >= kInfBits) {
    return not_finite_error(x);
  }
  if (found.count == 0) {
    out.put(SparseValues::kEmpty);
    return {};
  }
  const auto kept = std::span(indices).first(found.count);
  const bool tiny = options.values == SparseValues::kBf16 && found.max < kBf16MaxMin;
  Head head;
  head.values = tiny ? SparseValues::kInt8 : options.values;
  head.scale_code = short_scale_code(found.max, kInt8Max);
  std::size_t count = 0;
  if (head.values == SparseValues::kInt8) {
    const Int8Step step(short_scale(head.scale_code));
    count =
        round_values<std::int8_t>(x, kept, bytes.data(), [&](float v) { return to_int8(v, step); });
  } else if (head.values == SparseValues::kBf16) {
    count = round_values<std::uint16_t>(x, kept, bytes.data(), to_bf16);
  } else {
    count = round_values<float>(x, kept, bytes.data(), [](float v) { return v; });
  }
  head.indices = kept.first(count);
  write_head(head, x.size(), out);
  out.put_bytes(ByteSpan(bytes).first(count * value_bytes(head.values)));
  return {};
}

Status sparse_decode_add(const char* codec, ByteReader& in, float scale, std::span<float> acc) {
  SHOAL_CHECK(!acc.empty() && acc.size() <= kGranule, "a granule at a time");
  std::array<std::uint16_t, kGranule> room;
  Head head;
  SHOAL_TRY(read_head(codec, in, acc.size(), room, head));
  if (head.values == SparseValues::kEmpty) {
    return {};
  }
  ByteSpan bytes;
  if (!in.get_bytes(head.indices.size() * value_bytes(head.values), bytes)) {
    return truncated_error(codec);
  }
  const float step = short_scale(head.scale_code);
  if (!int8_scale_valid(step)) {
    return foreign_error(codec, "a scale out of range");
  }
  const bool good = head.values == SparseValues::kInt8
                        ? add_values<std::int8_t>(bytes, step, head.indices, scale, acc)
                    : head.values == SparseValues::kBf16
                        ? add_values<std::uint16_t>(bytes, 0, head.indices, scale, acc)
                        : add_values<float>(bytes, 0, head.indices, scale, acc);
  return good ? Status{} : foreign_error(codec, "a value out of range");
}

std::vector<OptionSpec> sparse_option_specs(double density) {
  return {{.name = "density",
           .type = OptionType::kFloat,
           .default_value = density,
           .help = "share of the values that is sent",
           .minimum = 1e-6,
           .maximum = 1.0,
           .choices = {},
           .scope = Scope::kPeer},
          {.name = "values",
           .type = OptionType::kString,
           .default_value = std::string("int8"),
           .help = "how kept values are written",
           .minimum = {},
           .maximum = {},
           .choices = {"int8", "bf16", "fp32"},
           .scope = Scope::kPeer}};
}

SparseOptions sparse_options(const Options& options) {
  const std::string& values = options.get_string("values");
  return {.density = options.get_float("density"),
          .values = values == "int8"   ? SparseValues::kInt8
                    : values == "bf16" ? SparseValues::kBf16
                                       : SparseValues::kFp32};
}

}  // namespace shoal::compress
