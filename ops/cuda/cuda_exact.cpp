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

}  // namespace shoal::ops
