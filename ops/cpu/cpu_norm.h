#pragma once

#include "ops/reference/host_norm.h"

namespace shoal::ops {

/// NormOps on the widest vectors at hand.
class CpuNormOps : public virtual HostNormOps<float> {
 public:
  void row_norm(const NormSizes& sizes, bool centered, ConstTensorView x, ConstTensorView weight,
                ConstTensorView bias, TensorView y, TensorView stats) override;
  void row_norm_backward(const NormSizes& sizes, bool centered, const Backward& pass) override;
  void batch_stats(const BatchNormSizes& sizes, ConstTensorView x, TensorView stats) override;
  void batch_norm(const BatchNormSizes& sizes, ConstTensorView x, ConstTensorView stats,
                  ConstTensorView weight, ConstTensorView bias, TensorView y) override;
  void batch_norm_backward(const BatchNormSizes& sizes, bool fixed, const Backward& pass,
                           TensorView sums) override;
};

}  // namespace shoal::ops
