#pragma once

#include <vector>

#include "ops/device/conv_ops.h"

namespace shoal::ops {

/// ConvOps as plain loops over the kernel bodies, one image at a time.
template <typename T>
class HostConvOps : public virtual ConvOps {
 public:
  void conv2d(const ConvSizes& sizes, ConstTensorView x, ConstTensorView weight,
              ConstTensorView bias, Activation activation, TensorView y,
              TensorView argmax) override;
  void conv2d_backward(const ConvSizes& sizes, const ConvBackward& pass) override;
  void max_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y,
                TensorView argmax) override;
  void max_pool_backward(const PoolSizes& sizes, ConstTensorView dy, ConstTensorView argmax,
                         TensorView dx) override;
  void avg_pool(const PoolSizes& sizes, ConstTensorView x, TensorView y) override;
  void avg_pool_backward(const PoolSizes& sizes, ConstTensorView dy, TensorView dx) override;
  void row_mean(ConstTensorView x, TensorView y) override;
  void row_mean_backward(ConstTensorView dy, TensorView dx) override;

 private:
  std::vector<T> col_;
  std::vector<T> product_;
};

extern template class HostConvOps<float>;
extern template class HostConvOps<double>;

}  // namespace shoal::ops
