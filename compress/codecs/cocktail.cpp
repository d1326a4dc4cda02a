// CocktailSGD: of a random share of the values, the same for every sender of a round, the largest,
// in blocks of few bits.
//
// A granule: u32 of the random share (random_support.h); then, in bits, lowest first: width 2
// (nothing, 4, 8 or 32 bits); unless nothing: index code 4, count - 1 12, the indices within the
// share (index_coding.h), and in blocks of 128 values a scale 12 (ShortScale of max / 7 or
// max / 127) and per value q + 7 in 4 bits or q + 127 in 8, x ~ q * scale, rounded to nearest even;
// of 32 bits: no scales, float32. Zeros up to a whole byte.
//
// Source: Wang et al., "CocktailSGD: fine-tuning foundation models over 500 Mbps networks", ICML
// 2023, section 3. Scales are of 12 bits, not 16.
#include <algorithm>
#include <array>

#include "compress/codecs/common.h"
#include "compress/index_coding.h"
#include "compress/random_support.h"
#include "compress/sparse_format.h"

namespace shoal::compress {
namespace {

constexpr unsigned kWidthBits = 2;
constexpr std::size_t kBlock = 128;

enum class Width : std::uint8_t { kNothing, k4, k8, k32 };

unsigned bits_of_width(Width width) { return width == Width::k4 ? 4 : width == Width::k8 ? 8 : 32; }
float levels_of(Width width) { return width == Width::k4 ? 7 : kInt8Max; }

void put_block(std::span<const float> x, Width width, BitWriter& bits) {
  if (width == Width::k32) {
    for (const float v : x) {
      bits.put(bits_of(v), 32);
    }
    return;
  }
  const float levels = levels_of(width);
  const std::uint32_t code = short_scale_code(abs_max(x), levels);
  const float step = short_scale(code);
  bits.put(code, kShortScaleBits);
  for (const float v : x) {
    const float steps = std::clamp(v / step, -levels, levels);
    bits.put(static_cast<std::uint32_t>(nearest_even(steps) + static_cast<int>(levels)),
             bits_of_width(width));
  }
}

/// False for a block that put_block never writes.
bool get_block(BitReader& bits, Width width, std::span<float> x) {
  std::uint32_t code = 0;
  if (width != Width::k32 && !bits.get(kShortScaleBits, code)) {
    return false;
  }
  const float levels = levels_of(width);
  const float step = short_scale(code);
  if (width != Width::k32 && (step == 0 || !is_finite(levels * step))) {
    return false;
  }
  for (float& v : x) {
    std::uint32_t q = 0;
    if (!bits.get(bits_of_width(width), q)) {
      return false;
    }
    if (width == Width::k32) {
      v = float_of(q);
      if (v == 0 || !is_finite(v)) {
        return false;
      }
      continue;
    }
    if (static_cast<float>(q) > 2 * levels) {
      return false;
    }
    v = (static_cast<float>(q) - levels) * step;
  }
  return true;
}

class Cocktail final : public Codec {
 public:
  Cocktail(double share, double density, Width width)
      : share_(share), density_(density), width_(width) {}
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    const std::size_t drawn = KeepCount(share_, elements).aim;
    return kSupportBytes + body_bytes_max(KeepCount(density_, drawn).high, drawn);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    if (abs_max(x) >= kInfBits) {
      return not_finite_error(x);
    }
    std::array<std::uint16_t, kGranule> room;
    std::array<float, kGranule> shared;
    const auto support = std::span(room).first(KeepCount(share_, x.size()).aim);
    const std::uint32_t seed = support_seed(context);
    draw_support(seed, x.size(), support);
    put_support(seed, support.size(), out);
    std::transform(support.begin(), support.end(), shared.begin(),
                   [&](std::uint16_t i) { return x[i]; });
    const auto drawn = std::span<const float>(shared).first(support.size());

    const auto found = select_largest(drawn, KeepCount(density_, drawn.size()), room);
    const auto indices = std::span(room).first(found.count);
    const std::size_t start = out.size();
    BitWriter bits(out.grow(body_bytes_max(found.count, drawn.size())));
    bits.put(static_cast<std::uint32_t>(found.count == 0 ? Width::kNothing : width_), kWidthBits);
    if (found.count > 0) {
      put_values(drawn, indices, bits);
    }
    out.truncate(start + bits.finish());
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& /*context*/, float scale,
                                  std::span<float> acc) const override {
    std::array<std::uint16_t, kGranule> support;
    std::array<std::uint16_t, kGranule> room;
    std::array<float, kGranule> values;
    const std::size_t drawn = get_support(in, acc.size(), support);
    if (drawn == 0) {
      return foreign_error("cocktail", "no random share, or one out of range");
    }
    BitReader bits(in.rest());
    std::size_t count = 0;
    SHOAL_TRY(get_values(bits, drawn, room, values, count));
    std::size_t size = 0;
    ByteSpan read;
    if (!bits.finish(size) || !in.get_bytes(size, read)) {
      return foreign_error("cocktail", "padding that is not zero");
    }
    for (std::size_t i = 0; i < count; ++i) {
      add_scaled(acc[support[room[i]]], scale, values[i]);
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t body_bytes_max(std::size_t count, std::size_t drawn) const {
    const std::size_t head = kWidthBits + kIndexCodeBits + kGapBits + index_bits_max(count, drawn);
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    return (head + blocks * kShortScaleBits + count * bits_of_width(width_) + 7) / 8;
  }

  void put_values(std::span<const float> drawn, std::span<const std::uint16_t> indices,
                  BitWriter& bits) const {
    const IndexCode code(indices);
    bits.put(code.code(), kIndexCodeBits);
    bits.put(static_cast<std::uint32_t>(indices.size() - 1), kGapBits);
    code.put(bits);
    std::array<float, kBlock> block;
    for (std::size_t begin = 0; begin < indices.size(); begin += kBlock) {
      const std::size_t size = std::min(kBlock, indices.size() - begin);
      for (std::size_t i = 0; i < size; ++i) {
        block[i] = drawn[indices[begin + i]];
      }
      put_block(std::span(block).first(size), width_, bits);
    }
  }

  static Status get_values(BitReader& bits, std::size_t drawn, std::span<std::uint16_t> indices,
                           std::span<float> values, std::size_t& count) {
    std::uint32_t width = 0;
    std::uint32_t code = 0;
    std::uint32_t last = 0;
    if (!bits.get(kWidthBits, width)) {
      return truncated_error("cocktail");
    }
    if (static_cast<Width>(width) == Width::kNothing) {
      return {};
    }
    if (!bits.get(kIndexCodeBits, code) || !bits.get(kGapBits, last)) {
      return truncated_error("cocktail");
    }
    if (last >= drawn || !get_indices(bits, code, drawn, indices.first(last + 1))) {
      return foreign_error("cocktail", "an index out of range");
    }
    count = last + 1;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t size = std::min(kBlock, count - begin);
      if (!get_block(bits, static_cast<Width>(width), values.subspan(begin, size))) {
        return foreign_error("cocktail", "a scale or value out of range");
      }
    }
    return {};
  }

  double share_;
  double density_;
  Width width_;
  // On average it contracts; for certain it does not.
  Properties properties_{.wire_id = 16, .deterministic = false};
};

std::unique_ptr<Codec> make_cocktail(const Options& options) {
  const std::string& bits = options.get_string("bits");
  return std::make_unique<Cocktail>(options.get_float("random"), options.get_float("top"),
                                    bits == "4"   ? Width::k4
                                    : bits == "8" ? Width::k8
                                                  : Width::k32);
}

}  // namespace

CodecEntry cocktail_entry() {
  OptionSpec random{.name = "random",
                    .type = OptionType::kFloat,
                    .default_value = 0.5,
                    .help = "share of the values that all senders of a round choose from",
                    .minimum = 1e-6,
                    .maximum = 1.0,
                    .choices = {},
                    .scope = Scope::kPeer};
  OptionSpec top{.name = "top",
                 .type = OptionType::kFloat,
                 .default_value = 0.04,
                 .help = "share of those that is sent, the largest",
                 .minimum = 1e-6,
                 .maximum = 1.0,
                 .choices = {},
                 .scope = Scope::kPeer};
  OptionSpec bits{.name = "bits",
                  .type = OptionType::kString,
                  .default_value = std::string("4"),
                  .help = "of a value that is sent",
                  .minimum = {},
                  .maximum = {},
                  .choices = {"4", "8", "32"},
                  .scope = Scope::kPeer};
  return {"cocktail",
          "the largest of a random share of the values, in few bits",
          {std::move(random), std::move(top), std::move(bits)},
          make_cocktail};
}

}  // namespace shoal::compress
