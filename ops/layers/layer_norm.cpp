#include "ops/layers/layer_norm.h"

#include "ops/layers/row_norm.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class LayerNorm final : public RowNormLayer {
 public:
  explicit LayerNorm(const Options& options)
      : RowNormLayer(true, options.get_bool("bias")), epsilon_(options.get_float("eps")) {}

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    std::vector<std::string> inputs{x};
    for (const auto& tensor : ctx.params) {
      inputs.push_back(ctx.graph->tensor(tensor));
    }
    return ctx.graph->node("LayerNormalization", inputs,
                           {{"epsilon", static_cast<float>(epsilon_)}});
  }

 protected:
  [[nodiscard]] Status check(const Shape& /*sample*/) const override { return {}; }

  [[nodiscard]] NormSizes sizes(const Shape& x) const override {
    return {x.rows(), x.cols(), 1, 1, epsilon_};
  }

 private:
  double epsilon_;
};

}  // namespace

LayerEntry layer_norm_entry() {
  return {"layer_norm",
          "normalisation over the last dimension",
          {{"bias", OptionType::kBool, true, "whether a bias is added", {}, {}, {}, Scope::kRun},
           epsilon_option()},
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<LayerNorm>(options);
          },
          {{{{1}, false}, {}},
           {{{7}, false}, {{"bias", false}}},
           {{{3, 5}, false}, {}},
           {{{2, 1, 33}, false}, {}}}};
}

}  // namespace shoal::ops
