#include "ops/layers/flatten.h"

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

Shape flat(const Shape& shape) { return {static_cast<std::int64_t>(shape.elements())}; }

class Flatten final : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    LayerPlan plan;
    plan.output = {flat(input.shape), input.index};
    plan.gradient_in_place = true;
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& /*ctx*/, TensorView x,
                                           Saved& /*saved*/) const override {
    const auto batch = static_cast<std::size_t>(x.shape[0]);
    return x.reshape(flat(x.shape.without_batch()).with_batch(batch));
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& /*ctx*/, TensorView dy,
                                            Saved& saved) const override {
    return dy.reshape(saved.input.shape);
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    return ctx.graph->node("Flatten", {x}, {{"axis", std::int64_t{1}}});
  }
};

}  // namespace

LayerEntry flatten_entry() {
  return {"flatten",
          "all dimensions of a sample as one",
          {},
          [](const Options& /*options*/) -> std::unique_ptr<Layer> {
            return std::make_unique<Flatten>();
          },
          {{{{1}, false}, {}}, {{{3, 5}, false}, {}}, {{{2, 1, 7}, false}, {}}}};
}

}  // namespace shoal::ops
