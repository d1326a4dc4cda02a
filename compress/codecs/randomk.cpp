// A random share of the values, the same one for every sender of a round, as float32: what senders
// send adds up value by value.
//
// A granule: u32 of count - 1 (12 bits), seed (18) and zeros (2), then as many float32. The seed
// says which values they are (random_support.h). Nothing is scaled up: what is not sent waits in
// the sender's carry.
#include <algorithm>
#include <array>

#include "compress/codec.h"
#include "compress/codecs/common.h"
#include "compress/random_support.h"
#include "compress/select.h"

namespace shoal::compress {
namespace {

class RandomK final : public Codec {
 public:
  explicit RandomK(double density) : density_(density) {}
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return kSupportBytes + KeepCount(density_, elements).aim * sizeof(float);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    if (abs_max(x) >= kInfBits) {
      return not_finite_error(x);
    }
    std::array<std::uint16_t, kGranule> room;
    const auto indices = std::span(room).first(KeepCount(density_, x.size()).aim);
    const std::uint32_t seed = support_seed(context);
    draw_support(seed, x.size(), indices);
    put_support(seed, indices.size(), out);
    std::array<float, kGranule> values;
    std::transform(indices.begin(), indices.end(), values.begin(),
                   [&](std::uint16_t i) { return x[i]; });
    out.put_bytes(std::as_bytes(std::span(values).first(indices.size())));
    return {};
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& /*context*/, float scale,
                                  std::span<float> acc) const override {
    std::array<std::uint16_t, kGranule> room;
    const std::size_t count = get_support(in, acc.size(), room);
    if (count == 0) {
      return foreign_error("randomk", "no header, or one out of range");
    }
    for (const std::uint16_t i : std::span(room).first(count)) {
      float value = 0;
      if (!in.get(value)) {
        return truncated_error("randomk");
      }
      if (!is_finite(value)) {
        return foreign_error("randomk", "a NaN or Inf");
      }
      add_scaled(acc[i], scale, value);
    }
    return {};
  }

 private:
  double density_;
  // A share `density` of |x|^2 is kept on average, but none for certain.
  Properties properties_{.wire_id = 12, .summable = true, .deterministic = false};
};

}  // namespace

CodecEntry randomk_entry() {
  OptionSpec density{.name = "density",
                     .type = OptionType::kFloat,
                     .default_value = 0.01,
                     .help = "share of the values that is sent",
                     .minimum = 1e-6,
                     .maximum = 1.0,
                     .choices = {},
                     .scope = Scope::kPeer};
  return {"randomk",
          "a random share of each granule, the same for every sender of a round",
          {std::move(density)},
          [](const Options& options) -> std::unique_ptr<Codec> {
            return std::make_unique<RandomK>(options.get_float("density"));
          }};
}

}  // namespace shoal::compress
