#include "ops/layers/activations.h"

#include <algorithm>

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(Activation activation) : activation_(activation) {}

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
    ctx.backend->activate(x, y, activation_);
    saved.output = y;
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    const ConstTensorView kept = keeps_input(activation_) ? saved.input : saved.output;
    ctx.backend->bias_activation_backward(kept, dy, TensorView(), activation_, Into::kReplace);
    return dy;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    return ctx.graph->activate(x, activation_);
  }

 private:
  Activation activation_;
};

}  // namespace

const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> names = {"none", "relu", "gelu",   "gelu_tanh",
                                                 "silu", "tanh", "sigmoid"};
  return names;
}

Activation activation_named(std::string_view name) {
  const auto& names = activation_names();
  const auto found = std::find(names.begin(), names.end(), name);
  SHOAL_CHECK(found != names.end(), "options take no other names of activations");
  return static_cast<Activation>(found - names.begin());
}

std::unique_ptr<Layer> make_activation(Activation activation) {
  return std::make_unique<ActivationLayer>(activation);
}

std::vector<LayerExample> activation_examples() {
  return {{{{1}, false}, {}}, {{{7}, false}, {}}, {{{3, 19}, false}, {}}};
}

}  // namespace shoal::ops
