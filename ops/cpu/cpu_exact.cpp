#include "ops/cpu/cpu_exact.h"

#include "ops/cpu/elementwise.h"

namespace shoal::ops {

void CpuExactOps::scale(TensorView x, double factor) {
  cpu::scale(x.as<float>(), static_cast<float>(factor), x.elements());
}

void CpuExactOps::add_scaled(TensorView y, double factor, ConstTensorView x) {
  cpu::add_scaled(y.as<float>(), static_cast<float>(factor), x.as<float>(), x.elements());
}

}  // namespace shoal::ops
