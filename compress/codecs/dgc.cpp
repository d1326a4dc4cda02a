// Deep Gradient Compression: the largest values, as sparse_format.h writes them, of what momentum
// made of the gradients. The momentum is the sender's own and lies in its Carry; all there is to
// encoding is that the first rounds may send more.
//
// Source: Lin et al., "Deep Gradient Compression", arXiv 1712.01887, section 3. The warm-up goes
// down by rounds, not epochs; the threshold is found as topk finds it.
#include <algorithm>
#include <array>

#include "compress/sparse_format.h"

namespace shoal::compress {
namespace {

constexpr std::array kWarmUp{0.25, 0.063, 0.015, 0.004};

class Dgc final : public Codec {
 public:
  Dgc(const SparseOptions& options, float momentum, std::uint64_t warmup)
      : options_(options), warmup_(warmup) {
    properties_.contraction = sparse_contraction(options.exact) * options.density;
    properties_.momentum = momentum;
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sparse_bytes_max(in_round(0), elements);
  }
  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& context,
                              ByteWriter& out) const override {
    return sparse_encode(x, in_round(context.round), out);
  }
  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& /*context*/, float scale,
                                  std::span<float> acc) const override {
    return sparse_decode_add("dgc", in, scale, acc);
  }

 private:
  [[nodiscard]] SparseOptions in_round(std::uint64_t round) const {
    SparseOptions options = options_;
    if (warmup_ > 0 && round / warmup_ < kWarmUp.size()) {
      const double early = kWarmUp[static_cast<std::size_t>(round / warmup_)];
      options.density = std::max(options.density, early);
    }
    return options;
  }

  SparseOptions options_;
  std::uint64_t warmup_;
  Properties properties_{.wire_id = 13, .state = StateKind::kPrivate};
};

std::unique_ptr<Codec> make_dgc(const Options& options) {
  return std::make_unique<Dgc>(sparse_options(options),
                               static_cast<float>(options.get_float("momentum")),
                               static_cast<std::uint64_t>(options.get_int("warmup")));
}

}  // namespace

CodecEntry dgc_entry() {
  auto specs = sparse_option_specs(0.001);
  specs.push_back({.name = "momentum",
                   .type = OptionType::kFloat,
                   .default_value = 0.9,
                   .help = "of what this peer computed; the optimizer behind the mean needs none",
                   .minimum = 0.0,
                   .maximum = 1.0,
                   .choices = {},
                   .scope = Scope::kPeer});
  specs.push_back({.name = "warmup",
                   .type = OptionType::kInt,
                   .default_value = std::int64_t{0},
                   .help = "rounds at each of the densities 0.25, 0.063, 0.015 and 0.004",
                   .minimum = 0.0,
                   .maximum = 1e9,
                   .choices = {},
                   .scope = Scope::kPeer});
  return {"dgc", "the largest values of each granule, with momentum before they are chosen",
          std::move(specs), make_dgc};
}

}  // namespace shoal::compress
