#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ops/base/rng.h"
#include "ops/layer.h"
#include "ops/reference/host_backend.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"

namespace shoal::ops::tests {

/// A layer of the registry under one of its examples, with parameters, gradients and a batch of
/// its own, in T on the backend of kernel bodies.
template <typename T>
struct OneLayer {
  HostBackend<T> backend;
  Workspace workspace;
  std::unique_ptr<Layer> layer;
  LayerPlan plan;
  std::vector<std::vector<T>> params;
  std::vector<std::vector<T>> grads;
  std::vector<std::vector<T>> buffers;
  std::vector<T> x;
  std::vector<std::int32_t> tokens;  // instead of x where integers go in
  bool index;
  Shape x_shape;
  Shape y_shape;
  bool frozen = false;
  bool input_gradient = true;
  std::vector<TensorView> param_views;
  std::vector<TensorView> grad_views;
  std::vector<TensorView> buffer_views;

  OneLayer(const LayerEntry& entry, const LayerExample& example, std::size_t batch, Rng rng)
      : index(example.input.index) {
    auto made = make_layer({entry.type, {}, example.options, example.inner, example.shortcut});
    REQUIRE(made.ok());
    layer = std::move(made).value();
    auto planned = layer->plan(example.input);
    REQUIRE(planned.ok());
    plan = std::move(planned).value();
    x_shape = example.input.shape.with_batch(batch);
    y_shape = plan.output.shape.with_batch(batch);
    x = random_vector<T>(rng, index ? 0 : x_shape.elements());
    tokens.resize(index ? x_shape.elements() : 0);
    for (auto& token : tokens) {
      const auto below = static_cast<std::uint64_t>(std::max<std::int64_t>(plan.index_below, 1));
      token = static_cast<std::int32_t>(rng.below(below));
    }
    for (const auto& p : plan.params) {
      params.push_back(random_vector<T>(rng, p.shape.elements()));
      grads.emplace_back(p.shape.elements());
    }
    for (const auto& b : plan.buffers) {
      buffers.emplace_back(b.shape.elements(), static_cast<T>(b.value));
    }
  }

  [[nodiscard]] TensorView input() {
    return index ? host_view(tokens.data(), x_shape) : host_view(x.data(), x_shape);
  }

  [[nodiscard]] Ctx context(Into into = Into::kReplace, std::uint32_t micro_batch = 0) {
    param_views.clear();
    grad_views.clear();
    buffer_views.clear();
    for (std::size_t i = 0; i < params.size(); ++i) {
      param_views.push_back(host_view(params[i].data(), plan.params[i].shape));
      grad_views.push_back(frozen ? TensorView()
                                  : host_view(grads[i].data(), plan.params[i].shape));
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffer_views.push_back(host_view(buffers[i].data(), plan.buffers[i].shape));
    }
    Ctx ctx;
    ctx.micro_batch = micro_batch;
    ctx.rng = Rng(1, micro_batch);
    ctx.backend = &backend;
    ctx.workspace = &workspace;
    ctx.plan = &plan;
    ctx.params = param_views;
    ctx.grads = grad_views;
    ctx.buffers = buffer_views;
    ctx.gradients_into = into;
    ctx.input_gradient = input_gradient;
    return ctx;
  }

  std::vector<T> forward(Saved& saved, std::uint32_t micro_batch = 0) {
    saved.input = input();
    const auto y = layer->forward(context(Into::kReplace, micro_batch), input(), saved);
    REQUIRE(y.ok());
    REQUIRE(y->shape == y_shape);
    const auto values = y->template span<T>();
    return {values.begin(), values.end()};
  }

  /// dx (empty for integers in, or when no gradient of the input is asked for).
  std::vector<T> backward(Saved& saved, std::vector<T> dy, Into into = Into::kReplace,
                          std::uint32_t micro_batch = 0) {
    const auto dx =
        layer->backward(context(into, micro_batch), host_view(dy.data(), y_shape), saved);
    REQUIRE(dx.ok());
    if (dx->empty() || index) {
      return {};
    }
    REQUIRE(dx->shape == x_shape);
    const auto values = dx->template span<T>();
    return {values.begin(), values.end()};
  }
};

/// Calls `check(entry, example, batch)` for the whole registry.
template <typename Check>
void for_each_layer(const Check& check) {
  for (const auto& entry : layer_registry()) {
    REQUIRE_FALSE(entry.examples.empty());
    for (std::size_t i = 0; i < entry.examples.size(); ++i) {
      for (const std::size_t batch : {std::size_t{1}, std::size_t{5}}) {
        INFO(entry.type << " example " << i << " batch " << batch);
        check(entry, entry.examples[i], batch);
      }
    }
  }
}

}  // namespace shoal::ops::tests
