#include "ops/layers/residual.h"

#include <algorithm>

#include "ops/layers/chain.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class Residual final : public Layer {
 public:
  Residual(const Options& options, std::vector<NamedLayer> inner, std::vector<NamedLayer> shortcut)
      : activation_(options.get_string("activation") == "relu" ? Activation::kRelu
                                                               : Activation::kNone),
        inner_(std::move(inner)),
        shortcut_(std::move(shortcut)) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || inner_.empty()) {
      return config_error(input.index ? "needs numbers, but gets integers"
                                      : "needs inner layers, whose result is added to its input");
    }
    LayerPlan plan;
    SHOAL_ASSIGN(plan.output, inner_.add_to(plan, input));
    SHOAL_ASSIGN(const Port other, shortcut_.add_to(plan, input));
    if (other != plan.output) {
      return config_error("adds what its inner layers give, " + plan.output.shape.text() + ", to " +
                          other.shape.text() + "; give it a shortcut that changes the shape");
    }
    if (!adds_inside(plan)) {
      plan.saved_elements += plan.output.shape.elements();
    }
    // The gradient that waits for both ways, and on the stack above it that of the first way.
    if (!shortcut_.empty()) {
      plan.scratch_elements = std::max(plan.scratch_elements, input.shape.elements());
    }
    plan.scratch_elements += plan.output.shape.elements();
    plan.gradient_in_place = shortcut_.empty();  // what the inner layers take they say
    plan.forward_flops += plan.output.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    const bool inside = adds_inside(*ctx.plan);
    Ctx inner = ctx;
    inner.added = inside ? ConstTensorView(x) : ConstTensorView();
    SHOAL_ASSIGN(const TensorView a, inner_.forward(inner, x, saved, 0));
    if (inside) {
      return a;
    }
    SHOAL_ASSIGN(const TensorView b, shortcut_.forward(ctx, x, saved, inner_.size()));
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, a.dtype, a.shape));
    ctx.backend->add(a, b, y, activation_);
    saved.output = y;
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    Backend& backend = *ctx.backend;
    Workspace& workspace = *ctx.workspace;
    if (activation_ != Activation::kNone) {
      backend.bias_activation_backward(saved.output, dy, TensorView(), activation_, Into::kReplace);
    }
    SHOAL_ASSIGN(const TensorView kept, workspace.push(dy, backend));
    SHOAL_ASSIGN(TensorView dx, inner_.backward(ctx, dy, saved, 0));
    TensorView other = kept;
    if (!shortcut_.empty()) {
      TensorView waiting;  // the way through the shortcut uses the memory that dx lies in
      if (ctx.input_gradient) {
        SHOAL_ASSIGN(waiting, workspace.push(dx, backend));
      }
      SHOAL_ASSIGN(other, shortcut_.backward(ctx, kept, saved, inner_.size()));
      if (ctx.input_gradient) {
        SHOAL_ASSIGN(dx, workspace.other_than(other, backend, saved.input.shape));
        backend.add(waiting, other, dx, Activation::kNone);
        workspace.pop();
      }
    } else if (ctx.input_gradient) {
      backend.add(dx, kept, dx, Activation::kNone);
    }
    workspace.pop();
    return ctx.input_gradient ? dx : TensorView();
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    SHOAL_ASSIGN(const std::string a, inner_.write_onnx(ctx, x, 0));
    SHOAL_ASSIGN(const std::string b, shortcut_.write_onnx(ctx, x, inner_.size()));
    return ctx.graph->activate(ctx.graph->node("Add", {a, b}), activation_);
  }

  void step(const Ctx& ctx, Saved& saved) const override {
    inner_.step(ctx, saved, 0);
    shortcut_.step(ctx, saved, inner_.size());
  }

 private:
  /// Whether the last inner layer gives the sum.
  [[nodiscard]] bool adds_inside(const LayerPlan& plan) const {
    return activation_ == Activation::kNone && shortcut_.empty() &&
           plan.inner[inner_.size() - 1].adds;
  }

  Activation activation_;
  Chain inner_;
  Chain shortcut_;
};

}  // namespace

LayerEntry residual_entry() {
  const LayerSpec narrow{
      "linear", "a", {{"out", std::int64_t{3}}, {"activation", std::string("relu")}}};
  const LayerSpec back{"linear", "b", {{"out", std::int64_t{5}}}};
  const LayerSpec wide{"linear", "c", {{"out", std::int64_t{4}}, {"bias", false}}};
  const LayerSpec wide_too{"linear", "", {{"out", std::int64_t{4}}, {"bias", false}}};
  const LayerSpec around{"residual", "r", {}, {narrow, back}};
  return {"residual",
          "what its inner layers give, added to its input or to what a shortcut gives",
          {{"activation",
            OptionType::kString,
            std::string("none"),
            "applied to the sum",
            {},
            {},
            {"none", "relu"},
            Scope::kRun}},
          nullptr,
          {{{{1}, false}, {}, {{"linear", "", {}}}},
           {{{5}, false}, {}, {narrow, back}},
           {{{2, 5}, false}, {{"activation", std::string("relu")}}, {narrow, back}},
           {{{5}, false}, {{"activation", std::string("relu")}}, {around, wide}, {wide_too}},
           {{{5}, false},
            {},
            {{"relu", "", {}}, around},
            {{"residual", "", {}, {narrow, back}}, {"linear", "", {{"out", std::int64_t{5}}}}}}},
          [](const Options& options, std::vector<NamedLayer> inner,
             std::vector<NamedLayer> shortcut) -> std::unique_ptr<Layer> {
            return std::make_unique<Residual>(options, std::move(inner), std::move(shortcut));
          }};
}

}  // namespace shoal::ops
