#pragma once

#include <string>

#include "ops/backend.h"
#include "ops/reference/host_conv.h"
#include "ops/reference/host_exact.h"
#include "ops/reference/host_loss.h"
#include "ops/reference/host_norm.h"
#include "ops/reference/host_pointwise.h"
#include "ops/reference/host_sequence.h"
#include "ops/reference/host_update.h"
#include "ops/reference/large_pages.h"

namespace shoal::ops {

/// Every operation as the kernel bodies written for the device, run as plain loops. With double it
/// is the reference of tests; with float it checks the bodies against the CPU backend, which
/// overrides what has to be fast.
template <typename T>
class HostBackend : public Backend,
                    public virtual HostConvOps<T>,
                    public virtual HostExactOps<T>,
                    public virtual HostLossOps<T>,
                    public virtual HostNormOps<T>,
                    public virtual HostPointwiseOps<T>,
                    public virtual HostSequenceOps<T>,
                    public virtual HostUpdateOps<T> {
 public:
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] DeviceKind device() const override { return DeviceKind::kCpu; }
  [[nodiscard]] DType real() const override { return dtype_of<T>(); }

  [[nodiscard]] Result<Storage> allocate(std::size_t bytes) override;
  void zero(TensorView x) override;
  void upload(ConstTensorView host, TensorView device) override;
  void download(ConstTensorView device, TensorView host) override;
  void copy(ConstTensorView from, TensorView to) override;
  [[nodiscard]] Status finish() override { return {}; }

  void gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b, TensorView c,
            Into into) override;

 private:
  LargePages large_pages_;
};

extern template class HostBackend<float>;
extern template class HostBackend<double>;

}  // namespace shoal::ops
