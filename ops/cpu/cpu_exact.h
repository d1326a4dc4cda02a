#pragma once

#include "ops/reference/host_exact.h"

namespace shoal::ops {

/// ExactOps on the widest vectors at hand, equal to the kernel bodies to the bit.
class CpuExactOps : public virtual HostExactOps<float> {
 public:
  void scale(TensorView x, double factor) override;
  void add_scaled(TensorView y, double factor, ConstTensorView x) override;
};

}  // namespace shoal::ops
