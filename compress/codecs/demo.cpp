// DeMo: the largest DCT coefficients of a granule, as sparse_format.h writes values.
//
// Runs of 64 elements, the last one filled up with zeros, are transformed each for itself (DCT-II,
// orthonormal); of all coefficients of the granule, in order of frequency first and run second, the
// largest are sent. Decoding transforms back. What is left in the sender's carry fades (`decay`).
//
// Source: Peng, Quesnelle, Kingma, "DeMo: Decoupled Momentum Optimization", arXiv 2411.19870,
// algorithm 1. There the chunks are 64 by 64 of a matrix; a granule knows no rows, so ours are
// runs, and chosen among together. The sign of the mean is taken by the optimizer, if at all.
#include <algorithm>
#include <array>

#include "compress/codecs/common.h"
#include "compress/dct.h"
#include "compress/sparse_format.h"

namespace shoal::compress {
namespace {

/// From here on values are made smaller before they are summed up: 2^118.
constexpr std::uint32_t kLarge = (118U + 127U) << 23;
constexpr float kDown = 0x1p-8F;
constexpr float kUp = 0x1p8F;

std::size_t runs_of(std::size_t elements) { return (elements + kDctSize - 1) / kDctSize; }

/// x * up, the largest float where that would be infinite.
float scaled_up(float x, float up) { return std::clamp(x * up, -kFloatMax, kFloatMax); }

class Demo final : public Codec {
 public:
  Demo(const SparseOptions& options, float decay) : options_(options) {
    properties_.carry_decay = decay;
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sparse_bytes_max(options_, runs_of(elements) * kDctSize);
  }

  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& /*context*/,
                              ByteWriter& out) const override {
    const std::uint32_t max = abs_max(x);
    if (max >= kInfBits) {
      return not_finite_error(x);
    }
    const float down = max >= kLarge ? kDown : 1;
    const float up = max >= kLarge ? kUp : 1;
    const std::size_t runs = runs_of(x.size());
    DctMatrix values{};
    for (std::size_t i = 0; i < x.size(); ++i) {
      values[i % kDctSize * kDctSize + i / kDctSize] = x[i] * down;
    }
    DctMatrix transformed;
    dct_forward(values, transformed);
    std::array<float, kGranule> coefficients;
    for (std::size_t k = 0; k < kDctSize; ++k) {
      for (std::size_t run = 0; run < runs; ++run) {
        coefficients[k * runs + run] = scaled_up(transformed[k * kDctSize + run], up);
      }
    }
    return sparse_encode(std::span(coefficients).first(runs * kDctSize), options_, out);
  }

  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& /*context*/, float scale,
                                  std::span<float> acc) const override {
    const std::size_t runs = runs_of(acc.size());
    std::array<float, kGranule> room{};
    const auto coefficients = std::span(room).first(runs * kDctSize);
    SHOAL_TRY(sparse_decode_add("demo", in, 1, coefficients));
    const bool large = abs_max(coefficients) >= kLarge;
    DctMatrix transformed{};
    for (std::size_t k = 0; k < kDctSize; ++k) {
      for (std::size_t run = 0; run < runs; ++run) {
        transformed[k * kDctSize + run] = coefficients[k * runs + run] * (large ? kDown : 1);
      }
    }
    DctMatrix values;
    dct_inverse(transformed, values);
    for (std::size_t i = 0; i < acc.size(); ++i) {
      const float value = values[i % kDctSize * kDctSize + i / kDctSize];
      add_scaled(acc[i], scale, scaled_up(value, large ? kUp : 1));
    }
    return {};
  }

 private:
  SparseOptions options_;
  // No contraction is declared: denormals lose all in the transform, the largest floats too much.
  Properties properties_{.wire_id = 15};
};

std::unique_ptr<Codec> make_demo(const Options& options) {
  return std::make_unique<Demo>(sparse_options(options),
                                static_cast<float>(options.get_float("decay")));
}

}  // namespace

CodecEntry demo_entry() {
  auto specs = sparse_option_specs(0.0078125);  // 32 of 4096, as in the paper
  specs.push_back({.name = "decay",
                   .type = OptionType::kFloat,
                   .default_value = 0.999,
                   .help = "what is left after a round of what was not sent",
                   .minimum = 0.0,
                   .maximum = 1.0,
                   .choices = {},
                   .scope = Scope::kPeer});
  return {"demo", "the largest DCT coefficients of runs of 64 values", std::move(specs), make_demo};
}

}  // namespace shoal::compress
