// For .cu files: row-major products by cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>

#include "ops/cuda/launch.h"

namespace shoal::ops::cuda {

// cuBLAS has numbers of its own; they travel below zero.
inline int32_t blas_status(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? 0 : -static_cast<int32_t>(status);
}

/// A row-major matrix, seen transposed or not; the next of a batch lies `step` elements on.
struct BlasMatrix {
  const float* data;
  size_t stride;
  bool transposed = false;
  size_t step = 0;
};

struct BlasResult {
  float* data;
  size_t stride;
  bool add = false;
  size_t step = 0;
};

/// c [m, n] = op(a) [m, k] op(b) [k, n] (+ c), `batch` times.
/// Requires: m, n, k > 0, and the stream's device is current.
inline int32_t product(ShoalCudaStream* stream, const BlasMatrix& a, const BlasMatrix& b,
                       const BlasResult& c, size_t m, size_t n, size_t k, size_t batch = 1) {
  const float one = 1.0F;
  const float beta = c.add ? 1.0F : 0.0F;
  // cuBLAS counts columns first: c^T = op(b)^T op(a)^T is our row-major product.
  return blas_status(cublasSgemmStridedBatched(
      stream->blas, b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
      a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, static_cast<int>(n), static_cast<int>(m),
      static_cast<int>(k), &one, b.data, static_cast<int>(b.stride), static_cast<long long>(b.step),
      a.data, static_cast<int>(a.stride), static_cast<long long>(a.step), &beta, c.data,
      static_cast<int>(c.stride), static_cast<long long>(c.step), static_cast<int>(batch)));
}

}  // namespace shoal::ops::cuda
