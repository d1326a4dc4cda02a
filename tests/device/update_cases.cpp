#include "ops/kernels/update.h"
#include "tests/device/operations.h"

namespace shoal::ops::tests {
namespace {

UpdateNumbers<double> numbers() {
  UpdateNumbers<double> n;
  n.rate = 0.1;
  n.decay = 0.01;
  n.beta1 = 0.9;
  n.keep1 = 0.1;
  n.beta2 = 0.99;
  n.keep2 = 0.01;
  n.epsilon = 1e-8;
  n.correction1 = 1.5;
  n.correction2 = 2.5;
  return n;
}

Operation update() {
  Operation op{"update", Promise::kBits, {}};
  for (std::int32_t number = 0; number < kUpdateRuleCount; ++number) {
    const auto rule = static_cast<UpdateRule>(number);
    for (const auto n : kLengths) {
      op.cases.emplace_back([=](Trial& t) {
        UpdateStep step;
        step.rule = rule;
        step.parameters = t.normal({n});
        step.gradients = t.normal({n});
        step.first = has_first(rule) ? t.normal({n}) : TensorView();
        step.second = has_second(rule) ? t.positive({n}) : TensorView();
        step.direction = rule == UpdateRule::kLamb ? t.room({n}) : TensorView();
        step.numbers = numbers();
        for (int i = 0; i < 3; ++i) {
          t.backend.update(step);
        }
        for (const auto& view : {step.parameters, step.first, step.second, step.direction}) {
          if (!view.empty()) {
            t.result(view);
          }
        }
      });
    }
  }
  return op;
}

Operation sum_squares() {
  Operation op{"sum_squares", Promise::kBits, {}};
  for (const auto n : kLengths) {
    op.cases.emplace_back([n](Trial& t) {
      const auto leaves =
          static_cast<std::int64_t>(kernels::leaf_count(static_cast<std::size_t>(n)));
      const auto x = t.normal({n});
      const auto sums = t.double_room({leaves});
      t.backend.sum_squares(x, sums);
      t.result(sums);
    });
  }
  return op;
}

}  // namespace

std::vector<Operation> update_operations() { return {update(), sum_squares()}; }

}  // namespace shoal::ops::tests
