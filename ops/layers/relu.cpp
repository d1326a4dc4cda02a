#include "ops/layers/relu.h"

namespace shoal::ops {
namespace {

class Relu final : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index) {
      return config_error("needs numbers, but gets integers");
    }
    LayerPlan plan;
    plan.output = input;
    plan.saved_elements = input.shape.elements();
    plan.gradient_in_place = true;
    plan.forward_flops = input.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, x.shape));
    ctx.backend->relu(x, y);
    saved.output = y;
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    ctx.backend->bias_activation_backward(saved.output, dy, TensorView(), Activation::kRelu,
                                          Into::kReplace);
    return dy;
  }
};

}  // namespace

LayerEntry relu_entry() {
  return {
      "relu",
      "max(x, 0)",
      {},
      [](const Options& /*options*/) -> std::unique_ptr<Layer> { return std::make_unique<Relu>(); },
      {{{{1}, false}, {}}, {{{7}, false}, {}}, {{{3, 5}, false}, {}}}};
}

}  // namespace shoal::ops
