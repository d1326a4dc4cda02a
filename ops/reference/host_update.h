#pragma once

#include "ops/device/update_ops.h"

namespace shoal::ops {

/// UpdateOps as plain loops over the kernel bodies.
template <typename T>
class HostUpdateOps : public virtual UpdateOps {
 public:
  void update(const UpdateStep& step) override;
  void sum_squares(ConstTensorView x, TensorView leaves) override;
};

/// The step's arrays as plain pointers. Requires: T is the type of all (checked).
template <typename T>
UpdateArrays<T> arrays_of(const UpdateStep& step) {
  return {step.direction.empty() ? step.parameters.as<T>() : step.direction.as<T>(),
          step.parameters.as<T>(), step.gradients.as<T>(), step.first.as_or_null<T>(),
          step.second.as_or_null<T>()};
}

extern template class HostUpdateOps<float>;
extern template class HostUpdateOps<double>;

}  // namespace shoal::ops
