#pragma once

#include "ops/device/exact_ops.h"

namespace shoal::ops {

/// ExactOps as plain loops over the kernel bodies.
template <typename T>
class HostExactOps : public virtual ExactOps {
 public:
  void scale(TensorView x, double factor) override;
  void add_scaled(TensorView y, double factor, ConstTensorView x) override;
};

extern template class HostExactOps<float>;
extern template class HostExactOps<double>;

}  // namespace shoal::ops
