#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ops/base/result.h"
#include "ops/device/conv_ops.h"
#include "ops/device/exact_ops.h"
#include "ops/device/loss_ops.h"
#include "ops/device/norm_ops.h"
#include "ops/device/pointwise_ops.h"
#include "ops/device/sequence_ops.h"
#include "ops/device/types.h"
#include "ops/device/update_ops.h"
#include "ops/tensor.h"

namespace shoal::ops {

/// y = activation(x W^T + bias) + added, which is made in `sum`: y itself, or other memory, which
/// then holds the slope there (see PointwiseOps::bias_activation). An empty bias or `added`: none.
/// Shapes: x [N, K], weight [M, K], bias [M], sum, y, added [N, M].
struct LinearForward {
  ConstTensorView x;
  ConstTensorView weight;
  ConstTensorView bias;
  TensorView sum;
  TensorView y;
  Activation activation = Activation::kNone;
  ConstTensorView added = {};
};

/// The way back: dy becomes what bias_activation_backward() makes of it. Empty gradients are not
/// wanted; those of parameters are put or added as `into` says. Shapes: as above, dx [N, K].
struct LinearBackward {
  ConstTensorView x;
  ConstTensorView weight;
  ConstTensorView kept;
  TensorView dy;
  TensorView dx;
  TensorView dweight;
  TensorView dbias;
  Activation activation = Activation::kNone;
  Into into = Into::kReplace;
};

/// What a device must offer. A layer is written once, over this. Reals of one backend have one
/// type, `real()`; host scalars come as double and are rounded to it. Views given to a backend lie
/// on its device unless a parameter says host. Shapes are checked: a mismatch is a bug of ours,
/// since Architecture judged them. What is here every model needs; families of operations are
/// interfaces of their own in device/, and each device implements a family in a file of its own.
/// Threads: one thread at a time (the compute thread). Work may be queued; `finish()` waits.
class Backend : public virtual ConvOps,
                public virtual ExactOps,
                public virtual LossOps,
                public virtual NormOps,
                public virtual PointwiseOps,
                public virtual SequenceOps,
                public virtual UpdateOps {
 public:
  /// For people: "cpu (OpenBLAS SkylakeX, 1 thread; AVX3)".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual DeviceKind device() const = 0;
  [[nodiscard]] virtual DType real() const = 0;

  /// Zeroed memory, aligned to 64 bytes. Errors: kDevice with the size that was not there.
  [[nodiscard]] virtual Result<Storage> allocate(std::size_t bytes) = 0;
  virtual void zero(TensorView x) = 0;
  /// Host to device; float32 becomes real(), integers stay. Requires: as many elements.
  virtual void upload(ConstTensorView host, TensorView device) = 0;
  /// Device to host; waits for queued work; real() may become float32.
  virtual void download(ConstTensorView device, TensorView host) = 0;
  /// Within the device. Requires: equal types and numbers of elements (checked).
  virtual void copy(ConstTensorView from, TensorView to) = 0;
  /// Waits for queued work. Errors: kDevice, what failed since the last call.
  [[nodiscard]] virtual Status finish() = 0;

  /// c = op(a) op(b) (+ c). Shapes: op(a) [M, K], op(b) [K, N] -> c [M, N]; leading dimensions of
  /// higher ranks are folded into rows.
  virtual void gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b,
                    TensorView c, Into into) = 0;
  /// By gemm and bias_activation where a device has nothing better.
  virtual void linear(const LinearForward& pass);
  virtual void linear_backward(const LinearBackward& pass);
};

/// The CPU backend (float32; OpenBLAS and Highway). Sets OpenBLAS to `blas_threads`: more than one
/// makes the small products of a peer slower, so one is the default.
std::unique_ptr<Backend> make_cpu_backend(int blas_threads = 1);
/// The float64 reference: the kernel bodies as plain loops. For tests and comparisons.
std::unique_ptr<Backend> make_reference_backend();
/// Which CUDA device, and how it computes.
struct CudaOptions {
  int device_index = 0;
  bool tf32 = false;  ///< products may keep ten bits of each factor: faster, and coarser by 5e-4
};
/// Errors: kDevice, saying whether the library, the driver or the device is missing.
Result<std::unique_ptr<Backend>> make_cuda_backend(const CudaOptions& options = {});

/// A backend that was chosen, and why, for the log.
struct ChosenBackend {
  std::unique_ptr<Backend> backend;
  std::string reason;
};

/// `name` is "auto" (CUDA when it works, else the CPU), "cpu", "cuda" or "reference".
/// Errors: kDevice for a device that is not there, kConfig for an unknown name.
Result<ChosenBackend> choose_backend(std::string_view name, int blas_threads = 1,
                                     const CudaOptions& cuda_options = {});

}  // namespace shoal::ops
