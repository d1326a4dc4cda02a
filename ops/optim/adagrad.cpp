#include "ops/optim/adagrad.h"

#include "ops/optim/rule_optimizer.h"

namespace shoal::ops {
namespace {

UpdateRule rule_of(const Options& options) {
  return options.get_float("momentum") != 0 ? UpdateRule::kAdagradMomentum : UpdateRule::kAdagrad;
}

class Adagrad final : public RuleOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Adagrad>();
    made->numbers_.beta1 = options.get_float("momentum");
    made->numbers_.keep1 = 1 - made->numbers_.beta1;
    made->numbers_.epsilon = options.get_float("epsilon");
    made->numbers_.decay = options.get_float("weight_decay");
    const RuleSetup setup{rule_of(options), options.get_bool("decay_skips"),
                          static_cast<float>(options.get_float("start"))};
    SHOAL_TRY(made->prepare(backend, space, setup));
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

OptimizerEntry adagrad_entry() {
  OptimizerEntry entry;
  entry.name = "adagrad";
  entry.help = "rates by the sum of all squares of gradients";
  entry.options = {
      float_option("momentum", 0.0, "what stays of the mean gradient; 0: none is kept", 0.0,
                   0.999999),
      epsilon_option(1e-10),
      float_option("start", 0.0, "what the sum of squares starts from", 0.0, 1e6),
      float_option("weight_decay", 0.0, "times the parameter, added to its gradient", 0.0, 1.0),
      decay_skips_option(false)};
  entry.make = &Adagrad::make;
  entry.state_reals = [](const Options& options) { return state_arrays(rule_of(options)); };
  entry.examples = {{{"momentum", 0.9}, {"epsilon", 1e-3}, {"start", 1e-6}},
                    {{"weight_decay", 0.01}, {"decay_skips", true}}};
  return entry;
}

}  // namespace shoal::ops
