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

  void linear(const LinearForward& pass) override {
    const std::size_t rows = pass.x.rows();
    if (!blocked(pass.weight) || rows <= kRowsForward) {
      HostBackend::linear(pass);
      return;
    }
    const std::size_t width = pass.weight.cols();
    weight_.pack({pass.weight.as<float>(), width, true}, width, pass.weight.rows());
    for (std::size_t first = 0; first < rows; first += kRowsForward) {
      const std::size_t count = std::min(kRowsForward, rows - first);
      const auto sum = rows_of(pass.sum, first, count);
      cpu::product({rows_of(pass.x, first, count).as<float>(), width, false}, weight_,
                   sum.as<float>(), weight_.n(), count, weight_.n(), width, false);
      const auto y = rows_of(pass.y, first, count);
      bias_activation(sum, pass.bias, y, pass.activation);
      if (!pass.added.empty()) {
        add(y, rows_of(pass.added, first, count), y, Activation::kNone);
      }
    }
  }

  void linear_backward(const LinearBackward& pass) override {
    const std::size_t rows = pass.x.rows();
    if (!blocked(pass.weight) || rows <= kRowsBackward) {
      HostBackend::linear_backward(pass);
      return;
    }
    if (!pass.dx.empty()) {
      weight_.pack({pass.weight.as<float>(), pass.weight.cols(), false}, pass.weight.rows(),
                   pass.weight.cols());
    }
    LinearBackward part = pass;
    part.dx = TensorView();
    for (std::size_t first = 0; first < rows; first += kRowsBackward) {
      const std::size_t count = std::min(kRowsBackward, rows - first);
      part.x = rows_of(pass.x, first, count);
      part.dy = rows_of(pass.dy, first, count);
      if (!pass.kept.empty()) {
        part.kept = rows_of(pass.kept, first, count);
      }
      HostBackend::linear_backward(part);
      part.into = Into::kAdd;
      if (!pass.dx.empty()) {
        cpu::product({part.dy.as<float>(), weight_.k(), false}, weight_,
                     rows_of(pass.dx, first, count).as<float>(), weight_.n(), count, weight_.n(),
                     weight_.k(), false);
      }
    }
  }

 private:
  // Rows that a linear layer works on while they lie in the second cache: whole tiles of a product,
  // and on the way back as many as a product sums up in one block.
  static constexpr std::size_t kRowsForward = 120;
  static constexpr std::size_t kRowsBackward = 256;
  static constexpr std::size_t kWeight = 128 * 1024;  // floats of a weight that leave room for them

  [[nodiscard]] bool blocked(const ConstTensorView& weight) const {
    return own_products_ && weight.elements() > 0 && weight.elements() <= kWeight;
  }

  template <bool kConst>
  static BasicView<kConst> rows_of(const BasicView<kConst>& x, std::size_t first,
                                   std::size_t count) {
    const std::size_t cols = x.cols();
    return x.slice(first * cols, count * cols)
        .reshape({static_cast<std::int64_t>(count), static_cast<std::int64_t>(cols)});
  }

  int blas_threads_;
  bool own_products_ = cpu::product_is_fast();
  cpu::ProductScratch product_scratch_;
  cpu::PackedMatrix weight_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int blas_threads) {
  return std::make_unique<CpuBackend>(blas_threads);
}

}  // namespace shoal::ops
