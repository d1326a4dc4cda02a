#include "ops/optim/rule_optimizer.h"

#include <algorithm>
#include <utility>

namespace shoal::ops {

OptionSpec decay_skips_option(bool default_value) {
  return {"decay_skips",
          OptionType::kBool,
          default_value,
          "no decay for biases and the parameters of norms (tensors of one dimension)",
          {},
          {},
          {},
          Scope::kRun};
}

OptionSpec float_option(std::string name, double default_value, std::string help, double minimum,
                        double maximum) {
  return {std::move(name), OptionType::kFloat, default_value, std::move(help), minimum, maximum, {},
          Scope::kRun};
}

std::vector<OptionSpec> mean_options() {
  return {float_option("beta1", 0.9, "what stays of the mean gradient", 0.0, 0.999999),
          float_option("beta2", 0.999, "what stays of the mean square", 0.0, 0.999999)};
}

UpdateNumbers<double> mean_numbers(const Options& options) {
  UpdateNumbers<double> n;
  n.beta1 = options.get_float("beta1");
  n.keep1 = 1 - n.beta1;
  n.beta2 = options.get_float("beta2");
  n.keep2 = 1 - n.beta2;
  n.epsilon = options.get_float("epsilon");
  n.decay = options.get_float("weight_decay");
  return n;
}

OptionSpec epsilon_option(double default_value) {
  return float_option("epsilon", default_value, "added to the root of the squares", 1e-30, 1.0);
}

Status RuleOptimizer::prepare(Backend& backend, const FlatSpace& space, const RuleSetup& setup) {
  backend_ = &backend;
  setup_ = setup;
  runs_.push_back({0, space.size(), true});
  for (const auto& tensor : space.tensors()) {
    const bool decays = !(setup.decay_skips && tensor.is_vector);
    if (decays != runs_.back().decays) {
      runs_.back().end = tensor.begin;
      runs_.push_back({tensor.begin, space.size(), decays});
    }
  }
  if (has_first(setup.rule)) {
    SHOAL_ASSIGN(first_, FlatArray::make(backend, space));
  }
  if (has_second(setup.rule)) {
    SHOAL_ASSIGN(second_, FlatArray::make(backend, space));
  }
  reset();
  return backend.finish();
}

std::vector<Optimizer::StateArray> RuleOptimizer::state() {
  std::vector<StateArray> arrays;
  if (has_first(setup_.rule)) {
    arrays.push_back({"momentum", &first_});
  }
  if (has_second(setup_.rule)) {
    arrays.push_back({"squares", &second_});
  }
  return arrays;
}

void RuleOptimizer::reset() {
  if (has_first(setup_.rule)) {
    first_.zero();
  }
  if (has_second(setup_.rule)) {
    second_.fill(setup_.second_start);
  }
}

void RuleOptimizer::apply(const StepScalars& scalars, std::size_t begin, TensorView parameters,
                          ConstTensorView gradients) {
  const std::size_t end = begin + parameters.elements();
  const auto with = numbers(scalars);
  auto without = with;
  without.decay = 0;
  for (const auto& run : runs_) {
    const std::size_t from = std::max(begin, run.begin);
    const std::size_t to = std::min(end, run.end);
    if (from < to) {
      launch(from, parameters.slice(from - begin, to - from),
             gradients.slice(from - begin, to - from), run.decays ? with : without);
    }
  }
}

void RuleOptimizer::launch(std::size_t begin, TensorView parameters, ConstTensorView gradients,
                           const UpdateNumbers<double>& numbers, TensorView direction) {
  const std::size_t count = parameters.elements();
  UpdateStep step;
  step.rule = setup_.rule;
  step.parameters = parameters;
  step.gradients = gradients;
  step.direction = direction;
  step.numbers = numbers;
  if (has_first(setup_.rule)) {
    step.first = first_.view().slice(begin, count);
  }
  if (has_second(setup_.rule)) {
    step.second = second_.view().slice(begin, count);
  }
  backend_->update(step);
}

}  // namespace shoal::ops
