#include "ops/layers/positions.h"

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class Positions final : public Layer {
 public:
  explicit Positions(const Options& options)
      : context_(options.get_int("context")), deviation_(options.get_float("deviation")) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || input.shape.rank() != 2) {
      return config_error("needs a sequence of numbers [length, width], but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    const std::int64_t context = context_ == 0 ? input.shape[0] : context_;
    if (context < input.shape[0]) {
      return config_error("knows " + std::to_string(context) + " places, but gets " +
                          std::to_string(input.shape[0]) + "; raise context");
    }
    LayerPlan plan;
    plan.output = input;
    plan.params.push_back({"weight", {context, input.shape[1]}, Init::normal(deviation_)});
    plan.saved_elements = input.shape.elements();
    plan.gradient_in_place = true;
    plan.forward_flops = input.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, x.shape));
    ctx.backend->copy(x, y);
    ctx.backend->bias_activation(y.reshape(as_rows(x.shape)), used(ctx.params[0], x.shape),
                                 Activation::kNone);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& /*saved*/) const override {
    const TensorView& dweight = ctx.grads[0];
    if (!dweight.empty()) {
      const TensorView seen = used(dweight, dy.shape);
      if (ctx.gradients_into == Into::kReplace && seen.elements() < dweight.elements()) {
        ctx.backend->zero(dweight.slice(seen.elements(), dweight.elements() - seen.elements()));
      }
      ctx.backend->bias_activation_backward({}, dy.reshape(as_rows(dy.shape)), seen,
                                            Activation::kNone, ctx.gradients_into);
    }
    return dy;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    const onnx::ModelTensor& weight = ctx.params[0];
    const bool whole = weight.shape == ctx.input;
    return ctx.graph->node(
        "Add", {x, whole ? ctx.graph->tensor(weight)
                         : ctx.graph->reals(ctx.input, weight.values.first(ctx.input.elements()))});
  }

 private:
  /// [N, T, D] as [N, T D]: a row for each sequence.
  static Shape as_rows(const Shape& shape) { return {shape[0], shape[1] * shape[2]}; }
  /// The rows of the weight for places that there are, as one vector.
  static TensorView used(const TensorView& weight, const Shape& x) {
    return weight.slice(0, static_cast<std::size_t>(x[1] * x[2]));
  }

  std::int64_t context_;
  double deviation_;
};

}  // namespace

LayerEntry positions_entry() {
  return {"positions",
          "adds what was learned for each place of a sequence",
          {{"context",
            OptionType::kInt,
            std::int64_t{0},
            "places known; 0: as many as come in",
            0.0,
            1e7,
            {},
            Scope::kRun},
           {"deviation",
            OptionType::kFloat,
            1.0,
            "of the numbers at the start",
            0.0,
            100.0,
            {},
            Scope::kRun}},
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<Positions>(options);
          },
          {{{{1, 1}, false}, {}},
           {{{3, 5}, false}, {}},
           {{{3, 5}, false}, {{"context", std::int64_t{4}}}}}};
}

}  // namespace shoal::ops
