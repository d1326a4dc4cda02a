#include "ops/backend.h"

#include <cblas.h>

#include <algorithm>

#include "ops/cpu/cpu_conv.h"
#include "ops/cpu/cpu_exact.h"
#include "ops/cpu/cpu_loss.h"
#include "ops/cpu/cpu_norm.h"
#include "ops/cpu/cpu_pointwise.h"
#include "ops/cpu/cpu_sequence.h"
#include "ops/cpu/cpu_update.h"
#include "ops/cpu/elementwise.h"
#include "ops/cpu/product.h"
#include "ops/gemm_shape.h"
#include "ops/reference/host_backend.h"

namespace shoal::ops {
namespace {

/// Products by cpu/product.h, or OpenBLAS where that is faster, element-wise work by Highway, the
/// rest as the kernel bodies say.
class CpuBackend final : public HostBackend<float>,
                         public virtual CpuConvOps,
                         public virtual CpuExactOps,
                         public virtual CpuLossOps,
                         public virtual CpuNormOps,
                         public virtual CpuPointwiseOps,
                         public virtual CpuSequenceOps,
                         public virtual CpuUpdateOps {
 public:
  explicit CpuBackend(int blas_threads) : blas_threads_(std::max(blas_threads, 1)) {
    openblas_set_num_threads(blas_threads_);
  }

  [[nodiscard]] std::string description() const override {
    return std::string("cpu (") + (own_products_ ? "products of our own, OpenBLAS " : "OpenBLAS ") +
           openblas_get_corename() + ", " + std::to_string(blas_threads_) +
           (blas_threads_ == 1 ? " thread; " : " threads; ") + cpu::vector_target() + ")";
  }

  void gemm(ConstTensorView a, Transpose op_a, ConstTensorView b, Transpose op_b, TensorView c,
            Into into) override {
    const auto s = gemm_shape(a, op_a, b, op_b, c);
    if (s.m == 0 || s.n == 0 || s.k == 0) {
      HostBackend::gemm(a, op_a, b, op_b, c, into);  // BLAS refuses leading dimensions of 0
      return;
    }
    if (own_products_) {
      cpu::product({a.as<float>(), s.lda, op_a == Transpose::kYes},
                   {b.as<float>(), s.ldb, op_b == Transpose::kYes}, c.as<float>(), s.n, s.m, s.n,
                   s.k, into == Into::kAdd, product_scratch_);
      return;
    }
    const auto transpose = [](Transpose t) {
      return t == Transpose::kYes ? CblasTrans : CblasNoTrans;
    };
    const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
    cblas_sgemm(CblasRowMajor, transpose(op_a), transpose(op_b), size(s.m), size(s.n), size(s.k),
                1.0F, a.as<float>(), size(s.lda), b.as<float>(), size(s.ldb),
                into == Into::kAdd ? 1.0F : 0.0F, c.as<float>(), size(s.n));
  }

 private:
  int blas_threads_;
  bool own_products_ = cpu::product_is_fast();
  cpu::ProductScratch product_scratch_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int blas_threads) {
  return std::make_unique<CpuBackend>(blas_threads);
}

}  // namespace shoal::ops
