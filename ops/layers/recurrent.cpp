#include "ops/layers/recurrent.h"

namespace shoal::ops {

RecurrentLayer::RecurrentLayer(const Options& options, std::int64_t gates, bool split)
    : hidden_(options.get_int("hidden")),
      layers_(static_cast<std::size_t>(options.get_int("layers"))),
      with_bias_(options.get_bool("bias")),
      gates_(gates),
      split_(split) {}

Result<LayerPlan> RecurrentLayer::plan(const Port& input) const {
  if (input.index || input.shape.rank() != 2 || input.shape.elements() == 0) {
    return config_error("needs a sequence of numbers [length, width], but gets " +
                        std::string(input.index ? "integers " : "") + input.shape.text());
  }
  const auto length = static_cast<std::size_t>(input.shape[0]);
  const auto hidden = static_cast<std::size_t>(hidden_);
  const auto gates = static_cast<std::size_t>(gates_);
  const Init init = Init::kaiming_uniform(hidden);
  LayerPlan plan;
  plan.output.shape = {input.shape[0], hidden_};
  std::int64_t in = input.shape[1];
  for (std::size_t l = 0; l < layers_; ++l) {
    const std::string end = "_l" + std::to_string(l);
    plan.params.push_back({"weight_ih" + end, {gates_ * hidden_, in}, init});
    plan.params.push_back({"weight_hh" + end, {gates_ * hidden_, hidden_}, init});
    if (with_bias_) {
      plan.params.push_back({"bias_ih" + end, {gates_ * hidden_}, init});
      plan.params.push_back({"bias_hh" + end, {gates_ * hidden_}, init});
    }
    plan.forward_flops += 2 * gates * hidden * (static_cast<std::size_t>(in) + hidden) * length;
    in = hidden_;
  }
  plan.saved_elements = layers_ * length * hidden * (gates + 2);
  plan.scratch_elements = length * hidden * (gates + 1) + 2 * hidden;
  if (split_) {
    plan.scratch_elements += length * hidden * gates + gates * hidden;
  }
  return plan;
}

Result<RecurrentLayer::Cells> RecurrentLayer::cells(const Ctx& ctx, Saved& saved, std::size_t layer,
                                                    std::int64_t sequences,
                                                    std::int64_t length) const {
  Backend& backend = *ctx.backend;
  const DType real = backend.real();
  const Shape state = {sequences, length, hidden_};
  Cells made;
  SHOAL_ASSIGN(made.gates,
               saved.tensor(3 * layer, backend, real, state.with_cols(gates_ * hidden_)));
  SHOAL_ASSIGN(made.h, saved.tensor(3 * layer + 1, backend, real, state));
  SHOAL_ASSIGN(made.extra, saved.tensor(3 * layer + 2, backend, real, state));
  const auto params = ctx.params.subspan(layer * params_each(), params_each());
  made.weight = params[1];
  if (with_bias_) {
    made.bias_input = params[2];
    made.bias_hidden = params[3];
  }
  return made;
}

Result<TensorView> RecurrentLayer::forward(const Ctx& ctx, TensorView x, Saved& saved) const {
  Workspace& workspace = *ctx.workspace;
  for (std::size_t l = 0; l < layers_; ++l) {
    SHOAL_ASSIGN(Cells made, cells(ctx, saved, l, x.shape[0], x.shape[1]));
    ctx.backend->gemm(x, Transpose::kNo, ctx.params[l * params_each()], Transpose::kYes, made.gates,
                      Into::kReplace);
    if (split_) {
      SHOAL_ASSIGN(made.scratch, workspace.hold(*ctx.backend, {x.shape[0], gates_ * hidden_}));
    }
    if (x.shape[0] > 0) {  // cells of an empty batch are products of no rows
      run(*ctx.backend, made);
    }
    if (split_) {
      workspace.pop();
    }
    x = made.h;
  }
  return x;
}

void RecurrentLayer::add_gradients(const Ctx& ctx, const Cells& cells, std::size_t layer,
                                   ConstTensorView x, ConstTensorView before) const {
  Backend& backend = *ctx.backend;
  const Into into = ctx.gradients_into;
  const auto grads = ctx.grads.subspan(layer * params_each(), params_each());
  if (!grads[0].empty()) {
    backend.gemm(cells.dgates, Transpose::kYes, x, Transpose::kNo, grads[0], into);
  }
  if (!grads[1].empty()) {
    backend.gemm(cells.drecurrent, Transpose::kYes, before, Transpose::kNo, grads[1], into);
  }
  for (std::size_t i = 2; i < params_each(); ++i) {
    if (i == 3 && !split_ && into == Into::kReplace && !grads[2].empty() && !grads[3].empty()) {
      backend.copy(grads[2], grads[3]);  // both biases are added to the same sums
    } else if (!grads[i].empty()) {
      backend.bias_activation_backward({}, i == 2 ? cells.dgates : cells.drecurrent, grads[i],
                                       Activation::kNone, into);
    }
  }
}

Result<TensorView> RecurrentLayer::backward(const Ctx& ctx, TensorView dy, Saved& saved) const {
  Backend& backend = *ctx.backend;
  Workspace& workspace = *ctx.workspace;
  const std::int64_t sequences = dy.shape[0];
  const std::int64_t length = dy.shape[1];
  for (std::size_t l = layers_; l-- > 0;) {
    SHOAL_ASSIGN(Cells made, cells(ctx, saved, l, sequences, length));
    SHOAL_ASSIGN(made.scratch, workspace.hold(backend, {2, sequences, hidden_}));
    SHOAL_ASSIGN(const TensorView before, workspace.hold(backend, made.h.shape));
    SHOAL_ASSIGN(made.dgates, workspace.hold(backend, made.gates.shape));
    made.drecurrent = made.dgates;
    if (split_) {
      SHOAL_ASSIGN(made.drecurrent, workspace.hold(backend, made.gates.shape));
    }
    made.dh = dy;
    if (sequences > 0) {
      run_backward(backend, made);
    }
    backend.shift_time(made.h, before);
    ConstTensorView x = saved.input;
    if (l > 0) {
      SHOAL_ASSIGN(const Cells below, cells(ctx, saved, l - 1, sequences, length));
      x = below.h;
    }
    add_gradients(ctx, made, l, x, before);
    TensorView dx;
    if (l > 0 || ctx.input_gradient) {
      SHOAL_ASSIGN(dx, workspace.other_than(dy, backend, x.shape));
      backend.gemm(made.dgates, Transpose::kNo, ctx.params[l * params_each()], Transpose::kNo, dx,
                   Into::kReplace);
    }
    for (int held = split_ ? 4 : 3; held > 0; --held) {
      workspace.pop();
    }
    dy = dx;
  }
  return dy;
}

Result<std::string> RecurrentLayer::write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const {
  onnx::Graph& graph = *ctx.graph;
  const OnnxCell cell = onnx_cell();
  std::vector<onnx::Attribute> attributes = cell.attributes;
  attributes.emplace_back("hidden_size", hidden_);
  // Tensors with gates in ONNX's order, one behind the other; one direction stands in front.
  const auto ordered = [&](std::span<const onnx::ModelTensor> tensors, Shape shape) {
    std::vector<float> values;
    for (const auto& tensor : tensors) {
      const std::size_t each = tensor.values.size() / cell.gates.size();
      for (const std::size_t gate : cell.gates) {
        const auto part = tensor.values.subspan(gate * each, each);
        values.insert(values.end(), part.begin(), part.end());
      }
    }
    return graph.reals(shape, values);
  };
  const std::vector<std::int64_t> turned{1, 0, 2};  // [N, T, F] <-> [T, N, F]
  std::string value = graph.node("Transpose", {x}, {{"perm", turned}});
  for (std::size_t l = 0; l < layers_; ++l) {
    const auto params = ctx.params.subspan(l * params_each(), params_each());
    std::vector<std::string> inputs{value,
                                    ordered(params.subspan(0, 1), params[0].shape.with_batch(1)),
                                    ordered(params.subspan(1, 1), params[1].shape.with_batch(1))};
    if (with_bias_) {
      inputs.push_back(ordered(params.subspan(2, 2), {1, 2 * gates_ * hidden_}));
    }
    value = graph.node("Squeeze", {graph.node(cell.type, inputs, attributes), graph.integers({1})});
  }
  return graph.node("Transpose", {value}, {{"perm", turned}});
}

std::vector<OptionSpec> recurrent_options() {
  return {{"hidden",
           OptionType::kInt,
           std::int64_t{1},
           "numbers of a state",
           1.0,
           1e6,
           {},
           Scope::kRun},
          {"layers",
           OptionType::kInt,
           std::int64_t{1},
           "layers, one above the other",
           1.0,
           64.0,
           {},
           Scope::kRun},
          {"bias",
           OptionType::kBool,
           true,
           "whether sums of gates have biases",
           {},
           {},
           {},
           Scope::kRun}};
}

std::vector<LayerExample> recurrent_examples() {
  const auto example = [](Shape in, std::int64_t hidden, std::int64_t layers, bool bias) {
    return LayerExample{{in, false}, {{"hidden", hidden}, {"layers", layers}, {"bias", bias}}};
  };
  return {example({1, 1}, 1, 1, true), example({4, 3}, 5, 1, true), example({3, 2}, 3, 2, false),
          example({2, 5}, 19, 2, true)};
}

}  // namespace shoal::ops
