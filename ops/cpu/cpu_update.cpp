#include "ops/cpu/cpu_update.h"

#include "ops/cpu/update.h"

namespace shoal::ops {

void CpuUpdateOps::update(const UpdateStep& step) {
  cpu::update(step.rule, arrays_of<float>(step), step.numbers.rounded<float>(),
              step.parameters.elements());
}

}  // namespace shoal::ops
