#include "ops/layers/batch_norm.h"

#include "ops/layers/row_norm.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {
namespace {

class BatchNorm final : public Layer {
 public:
  explicit BatchNorm(const Options& options)
      : epsilon_(options.get_float("eps")),
        momentum_(options.get_float("momentum")),
        policy_(options.get_string("statistics") == "average" ? BufferPolicy::kAverage
                                                              : BufferPolicy::kKeepLocal) {}

  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    if (input.index || input.shape.rank() == 0 || input.shape.elements() == 0) {
      return config_error("needs numbers of shape [channels, ...], but gets " +
                          std::string(input.index ? "integers " : "") + input.shape.text());
    }
    const std::int64_t channels = input.shape[0];
    LayerPlan plan;
    plan.output = input;
    plan.params.push_back({"weight", {channels}, Init::constant(1)});
    plan.params.push_back({"bias", {channels}, Init::constant(0)});
    plan.buffers.push_back({"running_mean", {channels}, policy_, 0});
    plan.buffers.push_back({"running_var", {channels}, policy_, 1});
    plan.buffers.push_back({"num_batches_tracked", {1}, policy_, 0});
    plan.saved_elements = input.shape.elements();
    plan.saved_fixed = kStats * static_cast<std::size_t>(channels);
    plan.gradient_in_place = true;
    plan.forward_flops = 6 * input.shape.elements();
    return plan;
  }

  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override {
    const BatchNormSizes s = sizes(x.shape);
    SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, x.shape));
    SHOAL_ASSIGN(const Stats stats, stats_of(ctx, s, x.dtype, saved));
    if (ctx.mode == Mode::kTrain) {
      ctx.backend->batch_stats(s, x, stats.values);
    } else {
      ctx.backend->running_stats(epsilon_, ctx.buffers[0], ctx.buffers[1], stats.values);
    }
    ctx.backend->batch_norm(s, x, stats.values, ctx.params[0], ctx.params[1], y);
    return y;
  }

  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override {
    const BatchNormSizes s = sizes(saved.input.shape);
    SHOAL_ASSIGN(const Stats stats, stats_of(ctx, s, saved.input.dtype, saved));
    NormOps::Backward pass;
    pass.x = saved.input;
    pass.weight = ctx.params[0];
    pass.stats = stats.values;
    pass.dy = dy;
    pass.dx = ctx.input_gradient ? dy : TensorView();
    pass.dweight = ctx.grads[0];
    pass.dbias = ctx.grads[1];
    pass.into = ctx.gradients_into;
    ctx.backend->batch_norm_backward(s, ctx.mode != Mode::kTrain, pass, stats.sums);
    return pass.dx;
  }

  void step(const Ctx& ctx, Saved& saved) const override {
    if (ctx.mode != Mode::kTrain || saved.input.elements() == 0) {
      return;  // no batch has no statistics
    }
    const BatchNormSizes s = sizes(saved.input.shape);
    // The memory is there since forward, so this cannot fail.
    const auto stats = stats_of(ctx, s, saved.input.dtype, saved);
    SHOAL_CHECK(stats.ok(), "forward of the same pass kept its statistics");
    ctx.backend->running_update(s, momentum_, stats->values, ctx.buffers[0], ctx.buffers[1],
                                ctx.buffers[2]);
  }

  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override {
    onnx::Graph& graph = *ctx.graph;
    return graph.node("BatchNormalization",
                      {x, graph.tensor(ctx.params[0]), graph.tensor(ctx.params[1]),
                       graph.tensor(ctx.buffers[0]), graph.tensor(ctx.buffers[1])},
                      {{"epsilon", static_cast<float>(epsilon_)}});
  }

 private:
  static constexpr std::size_t kStats = 5;  // a channel: three statistics, two sums of backward

  struct Stats {
    TensorView values;
    TensorView sums;
  };

  [[nodiscard]] BatchNormSizes sizes(const Shape& x) const {
    // Not a quotient of elements: a batch may be empty.
    const std::size_t inner = x.without_batch().without_batch().elements();
    return {static_cast<std::size_t>(x[0]), static_cast<std::size_t>(x[1]), inner, epsilon_};
  }

  static Result<Stats> stats_of(const Ctx& ctx, const BatchNormSizes& s, DType dtype,
                                Saved& saved) {
    const auto elements = static_cast<std::int64_t>(kStats * s.channels);
    SHOAL_ASSIGN(const TensorView all, saved.tensor(1, *ctx.backend, dtype, {elements}));
    return Stats{all.slice(0, 3 * s.channels), all.slice(3 * s.channels, 2 * s.channels)};
  }

  double epsilon_;
  double momentum_;
  BufferPolicy policy_;
};

}  // namespace

LayerEntry batch_norm_entry() {
  return {"batch_norm",
          "normalisation of each channel over the batch",
          {epsilon_option(),
           {"momentum",
            OptionType::kFloat,
            0.1,
            "weight of a batch in the running statistics",
            0.0,
            1.0,
            {},
            Scope::kRun},
           {"statistics",
            OptionType::kString,
            std::string("average"),
            "whether peers average their running statistics or keep them to themselves",
            {},
            {},
            {"average", "keep_local"},
            Scope::kRun}},
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<BatchNorm>(options);
          },
          {{{{1, 1, 1}, false}, {}},
           {{{3, 5, 7}, false}, {}},
           {{{5}, false}, {{"statistics", std::string("keep_local")}}},
           {{{2, 9}, false}, {{"momentum", 0.5}}}}};
}

}  // namespace shoal::ops
