#include "ops/layers/chain.h"

#include <algorithm>

#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

/// What inner layer `index` is called with.
Ctx inner_ctx(const Ctx& ctx, std::size_t index) {
  std::size_t param = 0;
  std::size_t buffer = 0;
  for (std::size_t i = 0; i < index; ++i) {
    param += ctx.plan->inner[i].params.size();
    buffer += ctx.plan->inner[i].buffers.size();
  }
  const LayerPlan& plan = ctx.plan->inner[index];
  Ctx inner = ctx;
  inner.plan = &plan;
  inner.rng = Rng(mix(ctx.rng.seed(), index + 1), ctx.rng.stream());
  inner.params = ctx.params.subspan(param, plan.params.size());
  inner.grads = ctx.grads.subspan(param, plan.params.size());
  inner.buffers = ctx.buffers.subspan(buffer, plan.buffers.size());
  return inner;
}

}  // namespace

Result<std::string> Chain::write_onnx(const onnx::LayerContext& ctx, std::string x,
                                      std::size_t first) const {
  std::size_t param = 0;
  std::size_t buffer = 0;
  for (std::size_t i = 0; i < first + layers_.size(); ++i) {
    const LayerPlan& plan = ctx.plan->inner[i];
    if (i >= first) {
      const NamedLayer& layer = layers_[i - first];
      auto made = layer.layer->write_onnx(
          {ctx.graph, &plan, plan.inner_input, ctx.params.subspan(param, plan.params.size()),
           ctx.buffers.subspan(buffer, plan.buffers.size())},
          x);
      if (!made.ok()) {
        return in_layer(made.error(), i - first, layer.type, layer.name);
      }
      x = std::move(made).value();
    }
    param += plan.params.size();
    buffer += plan.buffers.size();
  }
  return x;
}

Result<Port> Chain::add_to(LayerPlan& plan, const Port& input) const {
  Port port = input;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const NamedLayer& layer = layers_[i];
    auto made = layer.layer->plan(port);
    if (!made.ok()) {
      return in_layer(made.error(), i, layer.type, layer.name);
    }
    LayerPlan inner = std::move(made).value();
    for (auto param : inner.params) {
      param.name = layer.name + "." + param.name;
      plan.params.push_back(std::move(param));
    }
    for (auto buffer : inner.buffers) {
      buffer.name = layer.name + "." + buffer.name;
      plan.buffers.push_back(std::move(buffer));
    }
    plan.saved_elements += inner.saved_elements;
    plan.saved_fixed += inner.saved_fixed;
    plan.scratch_elements = std::max(plan.scratch_elements, inner.scratch_elements);
    plan.scratch_fixed = std::max(plan.scratch_fixed, inner.scratch_fixed);
    plan.forward_flops += inner.forward_flops;
    inner.inner_input = port.shape;
    port = inner.output;
    plan.inner.push_back(std::move(inner));
  }
  return port;
}

Result<TensorView> Chain::forward(const Ctx& ctx, TensorView x, Saved& saved,
                                  std::size_t first) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Saved& inner = saved.inner(first + i);
    inner.input = x;
    Ctx layer = inner_ctx(ctx, first + i);
    if (i + 1 < layers_.size()) {
      layer.added = ConstTensorView();
    }
    SHOAL_ASSIGN(x, layers_[i].layer->forward(layer, x, inner));
  }
  return x;
}

Result<TensorView> Chain::backward(const Ctx& ctx, TensorView dy, Saved& saved,
                                   std::size_t first) const {
  const auto begin = ctx.plan->inner.begin() + static_cast<std::ptrdiff_t>(first);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Ctx inner = inner_ctx(ctx, first + i);
    // A layer's input needs a gradient when anything before it learns.
    inner.input_gradient =
        ctx.input_gradient || std::any_of(begin, begin + static_cast<std::ptrdiff_t>(i),
                                          [](const LayerPlan& p) { return !p.params.empty(); });
    SHOAL_ASSIGN(dy, layers_[i].layer->backward(inner, dy, saved.inner(first + i)));
    if (dy.empty()) {
      break;
    }
  }
  return dy;
}

void Chain::step(const Ctx& ctx, Saved& saved, std::size_t first) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].layer->step(inner_ctx(ctx, first + i), saved.inner(first + i));
  }
}

}  // namespace shoal::ops
