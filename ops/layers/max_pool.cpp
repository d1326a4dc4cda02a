#include "ops/layers/max_pool.h"

#include "ops/layers/windows.h"

namespace shoal::ops {
namespace {

class MaxPool final : public Layer {
 public:
  explicit MaxPool(const Options& options) : windows_(options) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    LayerPlan plan;
    SHOAL_ASSIGN(plan.output, windows_.output(input));
    const std::size_t elements = plan.output.shape.elements();
    plan.saved_elements = elements + words(plan.output.shape);
    plan.forward_flops = elements * windows_.kernel * windows_.kernel;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    const Shape shape = windows_.result(x.shape);
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, shape));
    SHOAL_ASSIGN(const TensorView argmax, winners(ctx, shape, saved));
    ctx.backend->max_pool(windows_.sizes(x.shape), x, y, argmax);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    if (!ctx.input_gradient) {
      return TensorView();
    }
    SHOAL_ASSIGN(const TensorView argmax, winners(ctx, dy.shape, saved));
    SHOAL_ASSIGN(const TensorView dx,
                 ctx.workspace->other_than(dy, *ctx.backend, saved.input.shape));
    ctx.backend->max_pool_backward(windows_.sizes(saved.input.shape), dy, argmax, dx);
    return dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    return ctx.graph->node("MaxPool", {x}, windows_.attributes());
  }

 private:
  /// Reals that hold a byte for each element of a sample.
  static std::size_t words(const Shape& sample) { return (sample.elements() + 3) / 4; }

  static Result<TensorView> winners(const Ctx& ctx, const Shape& y, Saved& saved) {
    const auto bytes = 4 * static_cast<std::size_t>(y[0]) * words(y.without_batch());
    return saved.tensor(1, *ctx.backend, DType::kU8, {static_cast<std::int64_t>(bytes)});
  }

  Windows windows_;
};

}  // namespace

LayerEntry max_pool_entry() {
  return {"max_pool", "the largest of each window", Windows::options(),
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<MaxPool>(options);
          },
          Windows::examples()};
}

}  // namespace shoal::ops
