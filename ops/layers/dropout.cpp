#include "ops/layers/dropout.h"

namespace shoal::ops {
namespace {

class DropoutLayer final : public Layer {
 public:
  explicit DropoutLayer(const Options& options) : drop_(options.get_float("p")) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index) {
      return config_error("needs numbers, but gets integers");
    }
    LayerPlan plan;
    plan.output = input;
    plan.saved_elements = drop_ > 0 ? input.shape.elements() : 0;
    plan.gradient_in_place = true;
    plan.forward_flops = drop_ > 0 ? input.shape.elements() : 0;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    if (!active(ctx)) {
      return x;
    }
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, x.shape));
    ctx.backend->dropout(x, y, mask(ctx));
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& /*saved*/) const override {
    if (active(ctx)) {
      ctx.backend->dropout(dy, dy, mask(ctx));
    }
    return dy;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& /*ctx*/,
                                               const std::string& x) const override {
    return x;
  }

 private:
  [[nodiscard]] bool active(const Ctx& ctx) const { return ctx.mode == Mode::kTrain && drop_ > 0; }
  [[nodiscard]] Dropout mask(const Ctx& ctx) const {
    return {ctx.rng.seed(), ctx.rng.stream(), drop_};
  }

  double drop_;
};

}  // namespace

LayerEntry dropout_entry() {
  return {"dropout",
          "some numbers become 0 by chance while training",
          {{"p",
            OptionType::kFloat,
            0.5,
            "probability that a number becomes 0",
            0.0,
            0.99,
            {},
            Scope::kRun}},
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<DropoutLayer>(options);
          },
          {{{{1}, false}, {}}, {{{7}, false}, {{"p", 0.3}}}, {{{3, 5}, false}, {{"p", 0.0}}}}};
}

}  // namespace shoal::ops
