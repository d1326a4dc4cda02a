#pragma once

#include <string>
#include <vector>

#include "ops/device/update_ops.h"
#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// What an optimizer of one rule is made of.
struct RuleSetup {
  UpdateRule rule = UpdateRule::kSgd;
  bool decay_skips = false;  ///< vectors (biases, scales of norms) do not decay
  float second_start = 0;    ///< what the remembered squares start from
};

/// "decay_skips", for every optimizer that decays.
OptionSpec decay_skips_option(bool default_value);
/// A number from `minimum` to `maximum` that is a key of the run.
OptionSpec float_option(std::string name, double default_value, std::string help, double minimum,
                        double maximum);
/// "epsilon". Never 0, since padding would become 0 / 0.
OptionSpec epsilon_option(double default_value);
/// "beta1" and "beta2", of rules that remember the mean gradient and the mean square.
std::vector<OptionSpec> mean_options();
/// Numbers of such a rule: those, "epsilon" and "weight_decay".
UpdateNumbers<double> mean_numbers(const Options& options);

/// An optimizer that is one rule of kernels/update_rules.inc, element by element: its state, which
/// parts decay, and the launch. What is left to a rule's own file are options and numbers.
class RuleOptimizer : public Optimizer {
 public:
  [[nodiscard]] std::vector<StateArray> state() override;
  void reset() override;

 protected:
  /// Errors: kDevice.
  Status prepare(Backend& backend, const FlatSpace& space, const RuleSetup& setup);
  /// The step's numbers, for parts that decay. Plain IEEE operations only.
  [[nodiscard]] virtual UpdateNumbers<double> numbers(const StepScalars& scalars) const = 0;
  void apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
             ConstTensorView gradients) override;
  /// One launch over elements [begin, begin + parameters.elements()) of the space.
  void launch(std::size_t begin, TensorView parameters, ConstTensorView gradients,
              const UpdateNumbers<double>& numbers, TensorView direction = {});
  [[nodiscard]] Backend& backend() const { return *backend_; }

 private:
  /// Neighbours that decay or do not, as one; padding belongs to what stands before it.
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool decays = true;
  };
  Backend* backend_ = nullptr;
  RuleSetup setup_;
  std::vector<Run> runs_;
  FlatArray first_;
  FlatArray second_;
};

/// State reals a parameter of a rule.
constexpr std::size_t state_arrays(UpdateRule rule) {
  return (has_first(rule) ? 1U : 0U) + (has_second(rule) ? 1U : 0U);
}

}  // namespace shoal::ops
