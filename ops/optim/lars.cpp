#include "ops/optim/lars.h"

#include <cmath>

#include "ops/optim/tensor_optimizer.h"

namespace shoal::ops {
namespace {

class Lars final : public TensorOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Lars>();
    made->numbers_.beta1 = options.get_float("momentum");
    made->numbers_.decay = options.get_float("weight_decay");
    made->trust_ = options.get_float("trust");
    const RuleSetup setup{UpdateRule::kLars, options.get_bool("decay_skips"), 0};
    SHOAL_TRY(made->prepare_tensors(backend, space, setup));
    return std::unique_ptr<Optimizer>(std::move(made));
  }

 protected:
  [[nodiscard]] UpdateNumbers<double> numbers(const StepScalars& scalars) const override {
    auto n = numbers_;
    n.rate = scalars.lr;
    return n;
  }

  void apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
             ConstTensorView gradients) override {
    const auto tensors = tensors_in(begin, parameters.elements());
    views_.clear();
    for (const auto& t : tensors) {
      views_.push_back(parameters.slice(t.begin - begin, t.elements));
      views_.push_back(gradients.slice(t.begin - begin, t.elements));
    }
    const auto squares = sums().of(views_);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& t = tensors[i];
      auto n = numbers(scalars);
      if (plain(t)) {
        n.decay = 0;
      } else {
        const double weight = std::sqrt(squares[2 * i]);
        const double gradient = std::sqrt(squares[2 * i + 1]);
        // A tensor that is zero, or that nothing moves, has no scale to go by.
        const double below = gradient + n.decay * weight;
        n.rate *= weight > 0 && below > 0 ? trust_ * weight / below : 1.0;
      }
      launch(t.begin, parameters.slice(t.begin - begin, t.elements),
             gradients.slice(t.begin - begin, t.elements), n);
    }
  }

 private:
  UpdateNumbers<double> numbers_;
  double trust_ = 0;
};

}  // namespace

OptimizerEntry lars_entry() {
  OptimizerEntry entry;
  entry.name = "lars";
  entry.help = "SGD with momentum, the rate of a tensor by its norm and that of its gradient";
  entry.options = {
      float_option("momentum", 0.9, "part of the last change that is kept", 0.0, 1.0),
      float_option("trust", 0.001, "change of a tensor, as a part of its norm, at rate 1", 0.0,
                   1e3),
      float_option("weight_decay", 0.0, "times the parameter, added to its gradient", 0.0, 1.0),
      decay_skips_option(true)};
  entry.make = &Lars::make;
  entry.state_reals = [](const Options& /*options*/) { return state_arrays(UpdateRule::kLars); };
  entry.scratch_reals = [](const FlatSpace& space) { return 2 * sum_leaves(space); };
  entry.examples = {{{"weight_decay", 0.01}, {"trust", 0.02}},
                    {{"momentum", 0.0}, {"decay_skips", false}, {"weight_decay", 0.1}}};
  return entry;
}

}  // namespace shoal::ops
