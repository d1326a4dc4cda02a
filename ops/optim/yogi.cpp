#include "ops/optim/yogi.h"

#include "ops/optim/rule_optimizer.h"

namespace shoal::ops {
namespace {

class Yogi final : public RuleOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Yogi>();
    auto& n = made->numbers_;
    n.beta1 = options.get_float("beta1");
    n.keep1 = 1 - n.beta1;
    n.keep2 = 1 - options.get_float("beta2");
    n.epsilon = options.get_float("epsilon");
    n.decay = options.get_float("weight_decay");
    const RuleSetup setup{UpdateRule::kYogi, options.get_bool("decay_skips"),
                          static_cast<float>(options.get_float("start"))};
    SHOAL_TRY(made->prepare(backend, space, setup));
    return std::unique_ptr<Optimizer>(std::move(made));
  }

 protected:
  [[nodiscard]] UpdateNumbers<double> numbers(const StepScalars& scalars) const override {
    auto n = numbers_;
    n.rate = scalars.lr;
    n.decay = scalars.lr * numbers_.decay;
    return n;
  }

 private:
  UpdateNumbers<double> numbers_;
};

}  // namespace

OptimizerEntry yogi_entry() {
  OptimizerEntry entry;
  entry.name = "yogi";
  entry.help = "Adam whose mean square falls by no more than a gradient's own square";
  entry.options = {
      float_option("beta1", 0.9, "what stays of the mean gradient", 0.0, 0.999999),
      float_option("beta2", 0.999, "one less the part of a square that counts", 0.0, 0.999999),
      epsilon_option(1e-3),
      float_option("start", 1e-6, "what the mean square starts from", 0.0, 1e6),
      float_option("weight_decay", 0.0, "times the rate and the parameter, taken off it", 0.0, 1.0),
      decay_skips_option(false)};
  entry.make = &Yogi::make;
  entry.state_reals = [](const Options& /*options*/) { return state_arrays(UpdateRule::kYogi); };
  entry.examples = {{{"beta2", 0.9}, {"start", 0.0}},
                    {{"beta1", 0.0}, {"weight_decay", 0.1}, {"decay_skips", true}}};
  return entry;
}

}  // namespace shoal::ops
