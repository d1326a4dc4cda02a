#include "ops/layers/embedding.h"

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class Embedding final : public Layer {
 public:
  explicit Embedding(const Options& options)
      : vocabulary_(options.get_int("vocabulary")),
        width_(options.get_int("width")),
        deviation_(options.get_float("deviation")) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (!input.index || input.shape.rank() + 2 > Shape::kRankMax) {
      return config_error("needs integers (tokens), but gets " +
                          std::string(input.index ? "too many dimensions, " : "numbers ") +
                          input.shape.text());
    }
    LayerPlan plan;
    plan.output.shape = wider(input.shape);
    plan.params.push_back({"weight", {vocabulary_, width_}, Init::normal(deviation_)});
    plan.saved_elements = plan.output.shape.elements();
    plan.gradient_in_place = true;  // nothing goes back to integers
    plan.index_below = vocabulary_;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    SHOAL_ASSIGN(const TensorView y,
                 saved.tensor(0, *ctx.backend, ctx.backend->real(), wider(x.shape)));
    ctx.backend->embed(x, ctx.params[0], y);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    if (!ctx.grads[0].empty()) {
      ctx.backend->embed_backward(saved.input, dy, ctx.grads[0], ctx.gradients_into);
    }
    return TensorView();
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    return ctx.graph->node("Gather", {ctx.graph->tensor(ctx.params[0]), x});
  }

 private:
  [[nodiscard]] Shape wider(const Shape& shape) const {
    std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims.push_back(width_);
    return Shape(dims);
  }

  std::int64_t vocabulary_;
  std::int64_t width_;
  double deviation_;
};

}  // namespace

LayerEntry embedding_entry() {
  const auto example = [](Shape in, std::int64_t vocabulary, std::int64_t width) {
    return LayerExample{{in, true}, {{"vocabulary", vocabulary}, {"width", width}}};
  };
  return {
      "embedding",
      "a row of numbers for each integer",
      {{"vocabulary",
        OptionType::kInt,
        std::int64_t{1},
        "integers there are",
        1.0,
        1e8,
        {},
        Scope::kRun},
       {"width", OptionType::kInt, std::int64_t{1}, "numbers for each", 1.0, 1e6, {}, Scope::kRun},
       {"deviation",
        OptionType::kFloat,
        1.0,
        "of the numbers at the start",
        0.0,
        100.0,
        {},
        Scope::kRun}},
      [](const Options& options) -> std::unique_ptr<Layer> {
        return std::make_unique<Embedding>(options);
      },
      {example({1}, 1, 1), example({7}, 3, 5), example({2, 3}, 20, 17), example({}, 4, 3)}};
}

}  // namespace shoal::ops
