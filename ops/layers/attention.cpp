#include "ops/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class Attention final : public Layer {
 public:
  explicit Attention(const Options& options)
      : heads_(options.get_int("heads")), with_bias_(options.get_bool("bias")) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || input.shape.rank() != 2 || input.shape.elements() == 0) {
      return config_error("needs a sequence of numbers [length, width], but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    const std::int64_t width = input.shape[1];
    if (width % heads_ != 0) {
      return config_error("cannot give " + std::to_string(heads_) + " heads equal shares of " +
                          std::to_string(width) + " numbers; choose heads that divide it");
    }
    const auto fan = static_cast<std::uint64_t>(width);
    LayerPlan plan;
    plan.output = input;
    plan.params.push_back({"in_proj_weight",
                           {3 * width, width},
                           Init::uniform(std::sqrt(6.0 / static_cast<double>(4 * width)))});
    plan.params.push_back({"out_proj.weight", {width, width}, Init::kaiming_uniform(fan)});
    if (with_bias_) {
      plan.params.push_back({"in_proj_bias", {3 * width}, Init::constant(0)});
      plan.params.push_back({"out_proj.bias", {width}, Init::constant(0)});
    }
    const auto length = static_cast<std::size_t>(input.shape[0]);
    const std::size_t elements = input.shape.elements();
    plan.saved_elements = 5 * elements + length * static_cast<std::size_t>(heads_);
    plan.scratch_elements = 4 * elements;
    plan.adds = true;
    plan.forward_flops = elements * (8 * fan + 2 * (length + 1));  // half of the pairs are seen
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    Backend& backend = *ctx.backend;
    const std::int64_t width = x.shape[2];
    SHOAL_ASSIGN(const TensorView qkv,
                 saved.tensor(0, backend, x.dtype, x.shape.with_cols(3 * width)));
    SHOAL_ASSIGN(const TensorView seen, saved.tensor(1, backend, x.dtype, x.shape));
    SHOAL_ASSIGN(const TensorView log_sums,
                 saved.tensor(2, backend, x.dtype, {x.shape[0], heads_, x.shape[1]}));
    SHOAL_ASSIGN(const TensorView y, saved.tensor(3, backend, x.dtype, x.shape));
    project(ctx, x, 0, qkv, ConstTensorView());
    backend.attention(qkv, static_cast<std::size_t>(heads_), seen, log_sums);
    project(ctx, seen, 1, y, ctx.added);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    Backend& backend = *ctx.backend;
    Workspace& workspace = *ctx.workspace;
    const Shape shape = saved.input.shape;
    const Shape wide = shape.with_cols(3 * shape[2]);
    SHOAL_ASSIGN(const TensorView qkv, saved.tensor(0, backend, dy.dtype, wide));
    SHOAL_ASSIGN(const TensorView seen, saved.tensor(1, backend, dy.dtype, shape));
    SHOAL_ASSIGN(const TensorView log_sums,
                 saved.tensor(2, backend, dy.dtype, {shape[0], heads_, shape[1]}));
    SHOAL_ASSIGN(const TensorView dseen, workspace.hold(backend, shape));
    SHOAL_ASSIGN(const TensorView dqkv, workspace.hold(backend, wide));
    project_backward(ctx, dy, 1, seen, dseen);
    backend.attention_backward(qkv, static_cast<std::size_t>(heads_), seen, log_sums, dseen, dqkv);
    TensorView dx;
    if (ctx.input_gradient) {
      SHOAL_ASSIGN(dx, workspace.other_than(dy, backend, shape));
    }
    project_backward(ctx, dqkv, 0, saved.input, dx);
    workspace.pop();
    workspace.pop();
    return dx;
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    onnx::Graph& graph = *ctx.graph;
    const std::int64_t length = ctx.input[0];
    const std::int64_t share = ctx.input[1] / heads_;
    const auto project = [&](const std::string& value, std::size_t index) {
      return graph.linear(value, ctx.params[index], with_bias_ ? &ctx.params[2 + index] : nullptr);
    };
    // [N, T, 3, heads, share] -> [3, N, heads, T, share]; queries, keys and values by turns.
    const std::string split =
        graph.node("Transpose", {graph.reshape(project(x, 0), {length, 3, heads_, share})},
                   {{"perm", std::vector<std::int64_t>{2, 0, 3, 1, 4}}});
    const auto part = [&](std::int64_t which) {
      return graph.node("Gather", {split, graph.integer(which)});
    };
    const std::string keys =
        graph.node("Transpose", {part(1)}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
    const std::string scores =
        graph.node("Mul", {graph.node("MatMul", {part(0), keys}),
                           graph.real(1 / std::sqrt(static_cast<double>(share)))});
    const std::string shares =
        graph.node("Softmax", {graph.node("Add", {scores, later(graph, length)})});
    const std::string seen = graph.node("Transpose", {graph.node("MatMul", {shares, part(2)})},
                                        {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return project(graph.reshape(seen, ctx.input), 1);
  }

 private:
  /// [T, T], -inf for what comes later than a place, else 0.
  static std::string later(onnx::Graph& graph, std::int64_t length) {
    const auto size = static_cast<std::size_t>(length);
    std::vector<float> mask(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(i * size + i + 1), size - i - 1,
                  -std::numeric_limits<float>::infinity());
    }
    return graph.reals({length, length}, mask);
  }

  /// Projection 0 goes in, 1 goes out; biases follow the weights.
  void project(const Ctx& ctx, ConstTensorView x, std::size_t index, TensorView y,
               ConstTensorView added) const {
    ctx.backend->linear({x, ctx.params[index], with_bias_ ? ctx.params[2 + index] : TensorView(), y,
                         y, Activation::kNone, added});
  }

  void project_backward(const Ctx& ctx, TensorView dy, std::size_t index, ConstTensorView x,
                        TensorView dx) const {
    LinearBackward pass;
    pass.x = x;
    pass.weight = ctx.params[index];
    pass.dy = dy;
    pass.dx = dx;
    pass.dweight = ctx.grads[index];
    pass.dbias = with_bias_ ? ctx.grads[2 + index] : TensorView();
    pass.into = ctx.gradients_into;
    ctx.backend->linear_backward(pass);
  }

  std::int64_t heads_;
  bool with_bias_;
};

}  // namespace

LayerEntry attention_entry() {
  const auto example = [](Shape in, std::int64_t heads, bool bias) {
    return LayerExample{{in, false}, {{"heads", heads}, {"bias", bias}}};
  };
  return {
      "attention",
      "multi-head causal self-attention over [length, width]",
      {{"heads",
        OptionType::kInt,
        std::int64_t{1},
        "heads, which share the width",
        1.0,
        1024.0,
        {},
        Scope::kRun},
       {"bias", OptionType::kBool, true, "whether projections add one", {}, {}, {}, Scope::kRun}},
      [](const Options& options) -> std::unique_ptr<Layer> {
        return std::make_unique<Attention>(options);
      },
      {example({1, 1}, 1, true), example({3, 6}, 2, true), example({5, 3}, 3, false),
       example({67, 4}, 2, true)}};
}

}  // namespace shoal::ops
