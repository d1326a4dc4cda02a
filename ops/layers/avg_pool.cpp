#include "ops/layers/avg_pool.h"

#include "ops/layers/windows.h"

namespace shoal::ops {
namespace {

class AvgPool final : public Layer {
 public:
  explicit AvgPool(const Options& options) : windows_(options) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    LayerPlan plan;
    SHOAL_ASSIGN(plan.output, windows_.output(input));
    plan.saved_elements = plan.output.shape.elements();
    plan.forward_flops = plan.saved_elements * windows_.kernel * windows_.kernel;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y,
                 saved.tensor(0, *ctx.backend, x.dtype, windows_.result(x.shape)));
    ctx.backend->avg_pool(windows_.sizes(x.shape), x, y);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    if (!ctx.input_gradient) {
      return TensorView();
    }
    SHOAL_ASSIGN(const TensorView dx,
                 ctx.workspace->other_than(dy, *ctx.backend, saved.input.shape));
    ctx.backend->avg_pool_backward(windows_.sizes(saved.input.shape), dy, dx);
    return dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    std::vector<onnx::Attribute> attributes = windows_.attributes();
    attributes.emplace_back("count_include_pad", std::int64_t{1});
    return ctx.graph->node("AveragePool", {x}, attributes);
  }

 private:
  Windows windows_;
};

}  // namespace

LayerEntry avg_pool_entry() {
  return {"avg_pool", "the mean of each window", Windows::options(),
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<AvgPool>(options);
          },
          Windows::examples()};
}

}  // namespace shoal::ops
