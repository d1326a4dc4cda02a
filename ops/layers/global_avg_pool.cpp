#include "ops/layers/global_avg_pool.h"

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class GlobalAvgPool final : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || input.shape.rank() < 2 || input.shape.elements() == 0) {
      return config_error("needs numbers of shape [channels, ...], but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    LayerPlan plan;
    plan.output.shape = {input.shape[0]};
    plan.saved_elements = plan.output.shape.elements();
    plan.forward_flops = input.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y,
                 saved.tensor(0, *ctx.backend, x.dtype, {x.shape[0], x.shape[1]}));
    if (y.elements() > 0) {  // an empty batch has rows of no length
      ctx.backend->row_mean(x, y);
    }
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    if (!ctx.input_gradient) {
      return TensorView();
    }
    SHOAL_ASSIGN(const TensorView dx,
                 ctx.workspace->other_than(dy, *ctx.backend, saved.input.shape));
    if (dy.elements() > 0) {
      ctx.backend->row_mean_backward(dy, dx);
    }
    return dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 1; i < ctx.input.rank(); ++i) {
      axes.push_back(static_cast<std::int64_t>(i + 1));  // the batch and the channels stay
    }
    return ctx.graph->node("ReduceMean", {x}, {{"axes", axes}, {"keepdims", std::int64_t{0}}});
  }
};

}  // namespace

LayerEntry global_avg_pool_entry() {
  return {"global_avg_pool",
          "the mean of each channel",
          {},
          [](const Options& /*options*/) -> std::unique_ptr<Layer> {
            return std::make_unique<GlobalAvgPool>();
          },
          {{{{1, 1, 1}, false}, {}}, {{{3, 5, 7}, false}, {}}, {{{2, 9}, false}, {}}}};
}

}  // namespace shoal::ops
