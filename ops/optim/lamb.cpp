#include "ops/optim/lamb.h"

#include <cmath>

#include "ops/optim/tensor_optimizer.h"

namespace shoal::ops {
namespace {

class Lamb final : public TensorOptimizer {
 public:
  static Result<std::unique_ptr<Optimizer>> make(const Options& options, Backend& backend,
                                                 const FlatSpace& space) {
    auto made = std::make_unique<Lamb>();
    made->numbers_ = mean_numbers(options);
    const RuleSetup setup{UpdateRule::kLamb, options.get_bool("decay_skips"), 0};
    SHOAL_TRY(made->prepare_tensors(backend, space, setup));
    SHOAL_ASSIGN(made->direction_,
                 FlatArray::make(backend, FlatSpace(Ranges(Range{0, made->largest()}))));
    return std::unique_ptr<Optimizer>(std::move(made));
  }

  [[nodiscard]] StepScalars scalars(double lr, std::uint64_t step) const override {
    return {lr, bias_correction(numbers_.beta1, step), bias_correction(numbers_.beta2, step)};
  }

 protected:
  [[nodiscard]] UpdateNumbers<double> numbers(const StepScalars& scalars) const override {
    auto n = numbers_;
    n.rate = scalars.lr;
    n.correction1 = 1 / scalars.correction1;
    n.correction2 = 1 / std::sqrt(scalars.correction2);
    return n;
  }

  void apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
             ConstTensorView gradients) override {
    for (const auto& t : tensors_in(begin, parameters.elements())) {
      const auto p = parameters.slice(t.begin - begin, t.elements);
      const auto direction = direction_.view().slice(0, t.elements);
      auto n = numbers(scalars);
      n.decay = plain(t) ? 0 : n.decay;
      launch(t.begin, p, gradients.slice(t.begin - begin, t.elements), n, direction);
      double rate = n.rate;
      if (!plain(t)) {
        views_ = {p, direction};
        const auto squares = sums().of(views_);
        const double weight = std::sqrt(squares[0]);
        const double step = std::sqrt(squares[1]);
        rate *= weight > 0 && step > 0 ? weight / step : 1.0;
      }
      backend().add_scaled(p, -rate, direction);
    }
  }

 private:
  UpdateNumbers<double> numbers_;
  FlatArray direction_;  // of one tensor at a time
};

}  // namespace

OptimizerEntry lamb_entry() {
  OptimizerEntry entry;
  entry.name = "lamb";
  entry.help = "AdamW, the step of a tensor as long as the tensor itself at rate 1";
  entry.options = mean_options();
  entry.options.push_back(epsilon_option(1e-6));
  entry.options.push_back(
      float_option("weight_decay", 0.01, "times the parameter, added to its step", 0.0, 1.0));
  entry.options.push_back(decay_skips_option(true));
  entry.make = &Lamb::make;
  entry.state_reals = [](const Options& /*options*/) { return state_arrays(UpdateRule::kLamb); };
  entry.scratch_reals = [](const FlatSpace& space) {
    return largest_tensor(space) + 2 * sum_leaves(space);
  };
  entry.examples = {{{"weight_decay", 0.0}, {"decay_skips", false}},
                    {{"beta1", 0.5}, {"beta2", 0.9}, {"weight_decay", 0.1}}};
  return entry;
}

}  // namespace shoal::ops
