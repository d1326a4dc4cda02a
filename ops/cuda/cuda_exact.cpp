#include "ops/cuda/cuda_exact.h"

namespace shoal::ops {

void CudaExactOps::scale(TensorView x, double factor) {
  queue_.note(queue_.table.exact.scale(queue_.stream, x.as<float>(), static_cast<float>(factor),
                                       x.elements()));
}

void CudaExactOps::add_scaled(TensorView y, double factor, ConstTensorView x) {
  queue_.note(queue_.table.exact.add_scaled(
      queue_.stream, y.as<float>(), static_cast<float>(factor), x.as<float>(), x.elements()));
}

void CudaExactOps::sgd(TensorView parameters, ConstTensorView gradients, TensorView momentum,
                       const SgdScalars& s) {
  const ShoalCudaSgd step = {parameters.as<float>(),
                             gradients.as<float>(),
                             momentum.as_or_null<float>(),
                             parameters.elements(),
                             static_cast<float>(s.lr),
                             static_cast<float>(s.momentum),
                             static_cast<float>(s.weight_decay),
                             s.nesterov};
  queue_.note(queue_.table.exact.sgd(queue_.stream, &step));
}

}  // namespace shoal::ops
