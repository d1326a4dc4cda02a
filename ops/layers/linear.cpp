#include "ops/layers/linear.h"

#include "ops/layers/activations.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class Linear final : public Layer {
 public:
  explicit Linear(const Options& options)
      : out_(options.get_int("out")),
        with_bias_(options.get_bool("bias")),
        activation_(activation_named(options.get_string("activation"))) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || input.shape.rank() == 0 || input.shape.elements() == 0) {
      return config_error("needs numbers in at least one dimension, but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    const auto in = static_cast<std::uint64_t>(input.shape.cols());
    LayerPlan plan;
    plan.output.shape = input.shape.with_cols(out_);
    plan.params.push_back(
        {"weight", {out_, static_cast<std::int64_t>(in)}, Init::kaiming_uniform(in)});
    if (with_bias_) {
      plan.params.push_back({"bias", {out_}, Init::kaiming_uniform(in)});
    }
    plan.saved_elements = (keeps_input(activation_) ? 2 : 1) * plan.output.shape.elements();
    plan.adds = activation_ == Activation::kNone || keeps_input(activation_);
    plan.forward_flops = 2 * in * plan.output.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y,
                 saved.tensor(0, *ctx.backend, x.dtype, x.shape.with_cols(out_)));
    // What the way back needs: the result, or the slope of the activation.
    TensorView kept = y;
    if (keeps_input(activation_)) {
      SHOAL_ASSIGN(kept, saved.tensor(1, *ctx.backend, x.dtype, y.shape));
    }
    ctx.backend->linear({x, ctx.params[0], with_bias_ ? ctx.params[1] : TensorView(), kept, y,
                         activation_, ctx.added});
    saved.output = kept;
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    Backend& backend = *ctx.backend;
    LinearBackward pass;
    pass.x = saved.input;
    pass.weight = ctx.params[0];
    pass.kept = saved.output;
    pass.dy = dy;
    pass.dweight = ctx.grads[0];
    pass.dbias = with_bias_ ? ctx.grads[1] : TensorView();
    pass.activation = keeps_input(activation_) ? Activation::kSlope : activation_;
    pass.into = ctx.gradients_into;
    if (ctx.input_gradient) {
      SHOAL_ASSIGN(pass.dx, ctx.workspace->other_than(dy, backend, saved.input.shape));
    }
    backend.linear_backward(pass);
    return pass.dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    onnx::Graph& graph = *ctx.graph;
    const onnx::ModelTensor* bias = with_bias_ ? &ctx.params[1] : nullptr;
    return graph.activate(graph.linear(x, ctx.params[0], bias), activation_);
  }

 private:
  std::int64_t out_;
  bool with_bias_;
  Activation activation_;
};

}  // namespace

LayerEntry linear_entry() {
  const auto example = [](Shape in, std::int64_t out, const char* activation, bool bias) {
    return LayerExample{{in, false},
                        {{"out", out}, {"activation", std::string(activation)}, {"bias", bias}}};
  };
  return {
      "linear",
      "y = x W^T + b over the last dimension, with an activation if wanted",
      {{"out", OptionType::kInt, std::int64_t{1}, "features out", 1.0, 1e8, {}, Scope::kRun},
       {"bias", OptionType::kBool, true, "whether b is added", {}, {}, {}, Scope::kRun},
       {"activation",
        OptionType::kString,
        std::string("none"),
        "applied to the result in the same pass",
        {},
        {},
        activation_names(),
        Scope::kRun}},
      [](const Options& options) -> std::unique_ptr<Layer> {
        return std::make_unique<Linear>(options);
      },
      {example({1}, 1, "none", true), example({5}, 3, "none", true), example({7}, 4, "relu", true),
       example({3, 5}, 2, "relu", true), example({9}, 17, "none", false),
       example({6}, 5, "relu", false), example({4}, 19, "gelu", true),
       example({2, 3}, 5, "silu", false), example({5}, 3, "tanh", true)}};
}

}  // namespace shoal::ops
