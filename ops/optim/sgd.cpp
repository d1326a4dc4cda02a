#include "ops/optim/sgd.h"

#include "ops/optim/rule_optimizer.h"

namespace shoal::ops {
namespace {

UpdateRule rule_of(const Options& options) {
  if (options.get_float("momentum") == 0) {
    return UpdateRule::kSgd;
  }
  return options.get_bool("nesterov") ? UpdateRule::kNesterov : UpdateRule::kMomentum;
}

class Sgd final : public RuleOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Sgd>();
    made->numbers_.beta1 = options.get_float("momentum");
    made->numbers_.decay = options.get_float("weight_decay");
    if (options.get_bool("nesterov") && made->numbers_.beta1 == 0) {
      return config_error("nesterov needs a momentum above 0; set momentum or drop nesterov");
    }
    SHOAL_TRY(
        made->prepare(backend, space, {rule_of(options), options.get_bool("decay_skips"), 0}));
    return std::unique_ptr<Optimizer>(std::move(made));
  }

 protected:
  [[nodiscard]] UpdateNumbers<double> numbers(const StepScalars& scalars) const override {
    auto n = numbers_;
    n.rate = scalars.lr;
    return n;
  }

 private:
  UpdateNumbers<double> numbers_;
};

}  // namespace

OptimizerEntry sgd_entry() {
  OptimizerEntry entry;
  entry.name = "sgd";
  entry.help = "stochastic gradient descent with momentum";
  entry.options = {
      float_option("momentum", 0.9, "part of the last direction that is kept; 0: none", 0.0, 1.0),
      {"nesterov",
       OptionType::kBool,
       false,
       "look ahead along the momentum (PyTorch's convention)",
       {},
       {},
       {},
       Scope::kRun},
      float_option("weight_decay", 0.0, "times the parameter, added to its gradient", 0.0, 1.0),
      decay_skips_option(false)};
  entry.make = &Sgd::make;
  entry.state_reals = [](const Options& options) { return state_arrays(rule_of(options)); };
  entry.examples = {{{"momentum", 0.0}},
                    {{"momentum", 0.9}, {"nesterov", true}},
                    {{"momentum", 0.5}, {"weight_decay", 0.01}},
                    {{"momentum", 0.0}, {"weight_decay", 0.1}}};
  return entry;
}

}  // namespace shoal::ops
