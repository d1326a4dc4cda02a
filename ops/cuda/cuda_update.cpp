#include "ops/cuda/cuda_update.h"

namespace shoal::ops {

void CudaUpdateOps::update(const UpdateStep& step) {
  const auto n = step.numbers.rounded<float>();
  const ShoalCudaStep row = {
      static_cast<std::int32_t>(step.rule),
      step.direction.empty() ? step.parameters.as<float>() : step.direction.as<float>(),
      step.parameters.as<float>(),
      step.gradients.as<float>(),
      step.first.as_or_null<float>(),
      step.second.as_or_null<float>(),
      step.parameters.elements(),
      n.rate,
      n.decay,
      n.beta1,
      n.keep1,
      n.beta2,
      n.keep2,
      n.epsilon,
      n.correction1,
      n.correction2};
  queue_.note(queue_.table.update.update(queue_.stream, &row));
}

void CudaUpdateOps::sum_squares(ConstTensorView x, TensorView leaves) {
  queue_.note(queue_.table.update.sum_squares(queue_.stream, x.as<float>(), leaves.as<double>(),
                                              x.elements()));
}

}  // namespace shoal::ops
