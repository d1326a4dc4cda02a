#include "ops/backend.h"

#include <utility>

#include "ops/gemm_shape.h"

namespace shoal::ops {

GemmShape gemm_shape(const ConstTensorView& a, Transpose op_a, const ConstTensorView& b,
                     Transpose op_b, const ConstTensorView& c) {
  GemmShape s{a.rows(), b.cols(), a.cols(), a.cols(), b.cols()};
  std::size_t inner = b.rows();
  if (op_a == Transpose::kYes) {
    std::swap(s.m, s.k);
  }
  if (op_b == Transpose::kYes) {
    std::swap(s.n, inner);
  }
  SHOAL_CHECK(inner == s.k, "the inner sizes of a product are equal");
  SHOAL_CHECK(c.rows() == s.m && c.cols() == s.n, "a product's result has the size it needs");
  return s;
}

void Backend::linear(const LinearForward& pass) {
  gemm(pass.x, Transpose::kNo, pass.weight, Transpose::kYes, pass.sum, Into::kReplace);
  bias_activation(pass.sum, pass.bias, pass.y, pass.activation);
  if (!pass.added.empty()) {
    add(pass.y, pass.added, pass.y, Activation::kNone);
  }
}

void Backend::linear_backward(const LinearBackward& pass) {
  if (!pass.dbias.empty() || pass.activation != Activation::kNone) {
    bias_activation_backward(pass.kept, pass.dy, pass.dbias, pass.activation, pass.into);
  }
  if (!pass.dweight.empty()) {
    gemm(pass.dy, Transpose::kYes, pass.x, Transpose::kNo, pass.dweight, pass.into);
  }
  if (!pass.dx.empty()) {
    gemm(pass.dy, Transpose::kNo, pass.weight, Transpose::kNo, pass.dx, Into::kReplace);
  }
}

Result<ChosenBackend> choose_backend(std::string_view name, int blas_threads,
                                     const CudaOptions& cuda_options) {
  if (name == "cpu") {
    return ChosenBackend{make_cpu_backend(blas_threads), "the CPU was asked for"};
  }
  if (name == "reference") {
    return ChosenBackend{make_reference_backend(), "the float64 reference was asked for"};
  }
  if (name != "cuda" && name != "auto") {
    return config_error("no device is called \"" + std::string(name) +
                        "\" (devices: auto, cpu, cuda, reference)");
  }
  auto cuda = make_cuda_backend(cuda_options);
  if (cuda.ok()) {
    return ChosenBackend{std::move(cuda).value(), "a CUDA device was found"};
  }
  if (name == "cuda") {
    return cuda.error();
  }
  return ChosenBackend{make_cpu_backend(blas_threads), cuda.error().message};
}

}  // namespace shoal::ops
