#include "ops/optim/adamw.h"

#include <cmath>

#include "ops/optim/rule_optimizer.h"

namespace shoal::ops {
namespace {

class Adamw final : public RuleOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Adamw>();
    made->numbers_ = mean_numbers(options);
    made->corrects_ = options.get_bool("bias_correction");
    const RuleSetup setup{UpdateRule::kAdamw, options.get_bool("decay_skips"), 0};
    SHOAL_TRY(made->prepare(backend, space, setup));
    return std::unique_ptr<Optimizer>(std::move(made));
  }

  [[nodiscard]] StepScalars scalars(double lr, std::uint64_t step) const override {
    if (!corrects_) {
      return {lr, 1, 1};
    }
    return {lr, bias_correction(numbers_.beta1, step), bias_correction(numbers_.beta2, step)};
  }

 protected:
  [[nodiscard]] UpdateNumbers<double> numbers(const StepScalars& scalars) const override {
    auto n = numbers_;
    n.rate = scalars.lr / scalars.correction1;
    n.correction2 = 1 / std::sqrt(scalars.correction2);
    n.decay = scalars.lr * numbers_.decay;
    return n;
  }

 private:
  UpdateNumbers<double> numbers_;
  bool corrects_ = true;
};

}  // namespace

OptimizerEntry adamw_entry() {
  OptimizerEntry entry;
  entry.name = "adamw";
  entry.help = "Adam with the decay beside the loss";
  entry.options = mean_options();
  entry.options.push_back(epsilon_option(1e-8));
  entry.options.push_back(float_option("weight_decay", 0.01,
                                       "times the rate and the parameter, taken off it", 0.0, 1.0));
  entry.options.push_back({"bias_correction",
                           OptionType::kBool,
                           true,
                           "make up for means that start at 0 (FedAdam does not)",
                           {},
                           {},
                           {},
                           Scope::kRun});
  entry.options.push_back(decay_skips_option(false));
  entry.make = &Adamw::make;
  entry.state_reals = [](const Options& /*options*/) { return state_arrays(UpdateRule::kAdamw); };
  entry.examples = {
      {{"weight_decay", 0.0}},
      {{"beta2", 0.99}, {"epsilon", 1e-3}, {"bias_correction", false}, {"weight_decay", 0.0}},
      {{"beta1", 0.0}, {"weight_decay", 0.1}, {"decay_skips", true}}};
  return entry;
}

}  // namespace shoal::ops
