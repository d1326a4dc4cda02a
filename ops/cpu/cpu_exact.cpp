#include "ops/cpu/cpu_exact.h"

#include "ops/cpu/elementwise.h"

namespace shoal::ops {

void CpuExactOps::scale(TensorView x, double factor) {
  cpu::scale(x.as<float>(), static_cast<float>(factor), x.elements());
}

void CpuExactOps::add_scaled(TensorView y, double factor, ConstTensorView x) {
  cpu::add_scaled(y.as<float>(), static_cast<float>(factor), x.as<float>(), x.elements());
}

void CpuExactOps::sgd(TensorView parameters, ConstTensorView gradients, TensorView momentum,
                      const SgdScalars& s) {
  cpu::sgd({parameters.as<float>(), gradients.as<float>(), momentum.as_or_null<float>(),
            parameters.elements(), static_cast<float>(s.lr), static_cast<float>(s.momentum),
            static_cast<float>(s.weight_decay), s.nesterov});
}

}  // namespace shoal::ops
