// The largest values of a granule, as sparse_format.h writes them.
#include "compress/sparse_format.h"

namespace shoal::compress {
namespace {

class TopK final : public Codec {
 public:
  explicit TopK(const SparseOptions& options) : options_(options) {
    properties_.contraction = sparse_contraction(options.exact) * options.density;
  }
  [[nodiscard]] const Properties& properties() const override { return properties_; }
  [[nodiscard]] std::size_t bytes_max(std::size_t elements, std::size_t /*rows*/) const override {
    return sparse_bytes_max(options_, elements);
  }
  [[nodiscard]] Status encode(std::span<const float> x, const CodecContext& /*context*/,
                              ByteWriter& out) const override {
    return sparse_encode(x, options_, out);
  }
  [[nodiscard]] Status decode_add(ByteReader& in, const CodecContext& /*context*/, float scale,
                                  std::span<float> acc) const override {
    return sparse_decode_add("topk", in, scale, acc);
  }

 private:
  SparseOptions options_;
  Properties properties_{.wire_id = 4};
};

std::unique_ptr<Codec> make_topk(const Options& options) {
  SparseOptions sparse = sparse_options(options);
  sparse.exact = options.get_string("select") == "exact";
  return std::make_unique<TopK>(sparse);
}

}  // namespace

CodecEntry topk_entry() {
  auto specs = sparse_option_specs(0.01);
  specs.push_back({.name = "select",
                   .type = OptionType::kString,
                   .default_value = std::string("sampled"),
                   .help = "sampled: 7/8 to 5/4 as many as asked for, in half the time",
                   .minimum = {},
                   .maximum = {},
                   .choices = {"sampled", "exact"},
                   .scope = Scope::kPeer});
  return {"topk", "the largest values of each granule and their Rice-coded places",
          std::move(specs), make_topk};
}

}  // namespace shoal::compress
