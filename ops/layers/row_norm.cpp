#include "ops/layers/row_norm.h"

#include "ops/kernels/norm.h"

namespace shoal::ops {

Result<LayerPlan> RowNormLayer::plan(const Port& input) const {
  if (input.index || input.shape.rank() == 0 || input.shape.elements() == 0) {
    return config_error("needs numbers in at least one dimension, but gets " +
                        std::string(input.index ? "integers " : "") + input.shape.text());
  }
  SHOAL_TRY(check(input.shape));
  const NormSizes s = sizes(input.shape.with_batch(1));
  const auto channels = static_cast<std::int64_t>(kernels::norm_channels(s));
  LayerPlan plan;
  plan.output = input;
  plan.params.push_back({"weight", {channels}, Init::constant(1)});
  if (with_bias_) {
    plan.params.push_back({"bias", {channels}, Init::constant(0)});
  }
  plan.saved_elements = input.shape.elements() + 2 * s.rows;
  plan.gradient_in_place = true;
  plan.forward_flops = 6 * input.shape.elements();
  return plan;
}

Result<TensorView> RowNormLayer::forward(const Ctx& ctx, TensorView x, Saved& saved) const {
  const NormSizes s = sizes(x.shape);
  SHOAL_ASSIGN(const TensorView y, saved.tensor(0, *ctx.backend, x.dtype, x.shape));
  SHOAL_ASSIGN(const TensorView stats,
               saved.tensor(1, *ctx.backend, x.dtype, {static_cast<std::int64_t>(s.rows), 2}));
  ctx.backend->row_norm(s, centered_, x, ctx.params[0], with_bias_ ? ctx.params[1] : TensorView(),
                        y, stats);
  return y;
}

Result<TensorView> RowNormLayer::backward(const Ctx& ctx, TensorView dy, Saved& saved) const {
  const NormSizes s = sizes(saved.input.shape);
  NormOps::Backward pass;
  pass.x = saved.input;
  pass.weight = ctx.params[0];
  SHOAL_ASSIGN(pass.stats, saved.tensor(1, *ctx.backend, saved.input.dtype,
                                        {static_cast<std::int64_t>(s.rows), 2}));
  pass.dy = dy;
  pass.dx = ctx.input_gradient ? dy : TensorView();
  pass.dweight = ctx.grads[0];
  pass.dbias = with_bias_ ? ctx.grads[1] : TensorView();
  pass.into = ctx.gradients_into;
  ctx.backend->row_norm_backward(s, centered_, pass);
  return pass.dx;
}

OptionSpec epsilon_option() {
  return {"eps", OptionType::kFloat, 1e-5, "added to the variance", 1e-12, 1.0, {}, Scope::kRun};
}

}  // namespace shoal::ops
