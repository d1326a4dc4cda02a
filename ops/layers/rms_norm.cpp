#include "ops/layers/rms_norm.h"

#include "ops/layers/row_norm.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class RmsNorm final : public RowNormLayer {
 public:
  explicit RmsNorm(const Options& options)
      : RowNormLayer(false, false), epsilon_(options.get_float("eps")) {}

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    onnx::Graph& graph = *ctx.graph;
    const std::string square = graph.node("ReduceMean", {graph.node("Mul", {x, x})},
                                          {{"axes", std::vector<std::int64_t>{-1}}});
    const std::string root =
        graph.node("Sqrt", {graph.node("Add", {square, graph.real(epsilon_)})});
    return graph.node("Mul", {graph.node("Div", {x, root}), graph.tensor(ctx.params[0])});
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

LayerEntry rms_norm_entry() {
  return {
      "rms_norm",
      "division by the root of the mean square over the last dimension",
      {epsilon_option()},
      [](const Options& options) -> std::unique_ptr<Layer> {
        return std::make_unique<RmsNorm>(options);
      },
      {{{{1}, false}, {}}, {{{7}, false}, {}}, {{{3, 5}, false}, {}}, {{{2, 1, 33}, false}, {}}}};
}

}  // namespace shoal::ops
