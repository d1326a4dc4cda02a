#include <cstdio>
#include <new>

#include "ops/cuda/launch.h"
#include "ops/cuda/table.h"
#include "ops/kernels/activation.h"
#include "ops/kernels/softmax.h"

namespace {

using namespace shoal::ops::cuda;
namespace kernels = shoal::ops::kernels;

// cuBLAS has numbers of its own; they travel below zero.
int32_t blas_status(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? 0 : -static_cast<int32_t>(status);
}

const char* error_text(int32_t status) {
  return status < 0 ? cublasGetStatusString(static_cast<cublasStatus_t>(-status))
                    : cudaGetErrorString(static_cast<cudaError_t>(status));
}

int32_t device_count(int32_t* count) { return cudaGetDeviceCount(count); }

void close_stream(ShoalCudaStream* stream) {
  if (stream->blas != nullptr) {
    cublasDestroy(stream->blas);
  }
  if (stream->queue != nullptr) {
    cudaStreamDestroy(stream->queue);
  }
  delete stream;
}

int32_t fill_stream(ShoalCudaStream* stream) {
  if (const auto status = enter(stream)) {
    return status;
  }
  if (const auto status = cudaStreamCreateWithFlags(&stream->queue, cudaStreamNonBlocking)) {
    return status;
  }
  if (const auto status = cublasCreate(&stream->blas)) {
    return blas_status(status);
  }
  return blas_status(cublasSetStream(stream->blas, stream->queue));
}

int32_t open_stream(int32_t device, ShoalCudaStream** out) {
  auto* stream = new (std::nothrow) ShoalCudaStream;
  if (stream == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  stream->device = device;
  const int32_t status = fill_stream(stream);
  if (status != 0) {
    close_stream(stream);
    return status;
  }
  *out = stream;
  return 0;
}

int32_t device_name(ShoalCudaStream* stream, char* text, size_t bytes) {
  cudaDeviceProp properties;
  if (const auto status = cudaGetDeviceProperties(&properties, stream->device)) {
    return status;
  }
  std::snprintf(text, bytes, "%s", properties.name);
  return 0;
}

int32_t zero(ShoalCudaStream* stream, void* data, size_t bytes) {
  if (const auto status = enter(stream)) {
    return status;
  }
  return cudaMemsetAsync(data, 0, bytes, stream->queue);
}

int32_t allocate(ShoalCudaStream* stream, size_t bytes, void** data) {
  if (const auto status = enter(stream)) {
    return status;
  }
  if (const auto status = cudaMalloc(data, bytes)) {
    cudaGetLastError();  // an allocation that failed is no fault of what comes after
    return status;
  }
  return zero(stream, *data, bytes);
}

int32_t finish(ShoalCudaStream* stream) { return cudaStreamSynchronize(stream->queue); }

int32_t release(ShoalCudaStream* stream, void* data) {
  const int32_t status = finish(stream);
  const int32_t freed = cudaFree(data);
  return status != 0 ? status : freed;
}

int32_t copy_in(ShoalCudaStream* stream, void* data, const void* host, size_t bytes) {
  if (const auto status =
          cudaMemcpyAsync(data, host, bytes, cudaMemcpyHostToDevice, stream->queue)) {
    return status;
  }
  return finish(stream);
}

int32_t copy_out(ShoalCudaStream* stream, void* host, const void* data, size_t bytes) {
  if (const auto status =
          cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream->queue)) {
    return status;
  }
  return finish(stream);
}

int32_t copy(ShoalCudaStream* stream, void* to, const void* from, size_t bytes) {
  if (const auto status = enter(stream)) {
    return status;
  }
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream->queue);
}

int32_t gemm(ShoalCudaStream* stream, int32_t transpose_a, int32_t transpose_b, size_t m, size_t n,
             size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
             int32_t add) {
  if (m == 0 || n == 0) {
    return 0;
  }
  if (k == 0) {
    return add != 0 ? 0 : zero(stream, c, m * n * sizeof(float));
  }
  if (const auto status = enter(stream)) {
    return status;
  }
  const float one = 1.0F;
  const float beta = add != 0 ? 1.0F : 0.0F;
  // cuBLAS counts columns first: c^T = op(b)^T op(a)^T is our row-major product.
  return blas_status(cublasSgemm(stream->blas, transpose_b != 0 ? CUBLAS_OP_T : CUBLAS_OP_N,
                                 transpose_a != 0 ? CUBLAS_OP_T : CUBLAS_OP_N, static_cast<int>(n),
                                 static_cast<int>(m), static_cast<int>(k), &one, b,
                                 static_cast<int>(ldb), a, static_cast<int>(lda), &beta, c,
                                 static_cast<int>(n)));
}

int32_t bias_activation(ShoalCudaStream* stream, float* y, const float* bias, size_t rows,
                        size_t cols, int32_t with_relu) {
  return launch(stream, rows * cols, kernels::BiasActivation<float>{y, bias, cols, with_relu != 0});
}

int32_t bias_activation_backward(ShoalCudaStream* stream, const float* y, float* dy, float* dbias,
                                 size_t rows, size_t cols, int32_t with_relu, int32_t add) {
  return launch(
      stream, cols,
      kernels::BiasActivationBackward<float>{y, dy, dbias, rows, cols, with_relu != 0, add != 0});
}

int32_t add(ShoalCudaStream* stream, const float* a, const float* b, float* y, size_t count,
            int32_t with_relu) {
  return launch(stream, count, kernels::AddActivation<float>{a, b, y, with_relu != 0});
}

int32_t relu(ShoalCudaStream* stream, const float* x, float* y, size_t count) {
  return launch(stream, count, kernels::Relu<float>{x, y});
}

int32_t softmax_cross_entropy(ShoalCudaStream* stream, const float* logits, const int32_t* labels,
                              float scale, float* dlogits, float* loss, int32_t* correct,
                              size_t rows, size_t cols) {
  return launch(
      stream, rows,
      kernels::SoftmaxCrossEntropy<float>{logits, labels, scale, dlogits, loss, correct, cols});
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ShoalCudaTable* shoal_cuda_table(void) {
  static const ShoalCudaTable table = {
      SHOAL_CUDA_TABLE_VERSION,
      sizeof(ShoalCudaTable),
      &error_text,
      &device_count,
      &open_stream,
      &close_stream,
      &device_name,
      &allocate,
      &release,
      &zero,
      &copy_in,
      &copy_out,
      &copy,
      &finish,
      &gemm,
      &bias_activation,
      &bias_activation_backward,
      &add,
      &relu,
      &softmax_cross_entropy,
      shoal_cuda_conv(),
      shoal_cuda_exact(),
      shoal_cuda_update(),
  };
  return &table;
}
