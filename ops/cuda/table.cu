#include <cstdio>
#include <new>

#include "ops/cuda/blas.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/table.h"

namespace {

using namespace shoal::ops::cuda;

const char* error_text(int32_t status) {
  return status < 0 ? cublasGetStatusString(static_cast<cublasStatus_t>(-status))
                    : cudaGetErrorString(static_cast<cudaError_t>(status));
}

int32_t device_count(int32_t* count) { return cudaGetDeviceCount(count); }

void close_staging(ShoalCudaStream* stream) {
  auto& staging = stream->staging;
  for (auto& slot : staging.slots) {
    cudaFreeHost(slot.host);
    cudaFree(slot.device);
    for (const auto event : {slot.crossed, slot.taken}) {
      if (event != nullptr) {
        cudaEventDestroy(event);
      }
    }
  }
  if (staging.computed != nullptr) {
    cudaEventDestroy(staging.computed);
  }
  if (staging.copies != nullptr) {
    cudaStreamDestroy(staging.copies);
  }
}

void close_stream(ShoalCudaStream* stream) {
  enter(stream);
  if (stream->blas != nullptr) {
    cublasDestroy(stream->blas);
  }
  cudaFree(stream->tile);
  close_staging(stream);
  if (stream->queue != nullptr) {
    cudaStreamDestroy(stream->queue);
  }
  delete stream;
}

int32_t make_event(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

/// A stream for copies, and pinned buffers between it and the one of all work.
int32_t fill_staging(ShoalCudaStream* stream) {
  auto& staging = stream->staging;
  staging.compute = stream->queue;
  staging.slot_bytes = SHOAL_CUDA_STAGING_BYTES / staging.kSlots;
  int32_t status = cudaStreamCreateWithFlags(&staging.copies, cudaStreamNonBlocking);
  status = status != 0 ? status : make_event(&staging.computed);
  for (auto& slot : staging.slots) {
    status =
        status != 0 ? status : cudaHostAlloc(&slot.host, staging.slot_bytes, cudaHostAllocDefault);
    status = status != 0 ? status : cudaMalloc(&slot.device, staging.slot_bytes);
    status = status != 0 ? status : make_event(&slot.crossed);
    status = status != 0 ? status : make_event(&slot.taken);
  }
  return status;
}

int32_t fill_stream(ShoalCudaStream* stream, bool tf32) {
  if (const auto status = enter(stream)) {
    return status;
  }
  if (const auto status = cudaStreamCreateWithFlags(&stream->queue, cudaStreamNonBlocking)) {
    return status;
  }
  if (const auto status = fill_staging(stream)) {
    return status;
  }
  if (const auto status = cublasCreate(&stream->blas)) {
    return blas_status(status);
  }
  if (const auto status = cublasSetMathMode(
          stream->blas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH)) {
    return blas_status(status);
  }
  return blas_status(cublasSetStream(stream->blas, stream->queue));
}

int32_t open_stream(int32_t device, int32_t tf32, ShoalCudaStream** out) {
  auto* stream = new (std::nothrow) ShoalCudaStream;
  if (stream == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  stream->device = device;
  const int32_t status = fill_stream(stream, tf32 != 0);
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

int32_t finish(ShoalCudaStream* stream) {
  if (const auto status = enter(stream)) {
    return status;
  }
  return cudaStreamSynchronize(stream->queue);
}

int32_t release(ShoalCudaStream* stream, void* data) {
  const int32_t status = finish(stream);
  const int32_t freed = cudaFree(data);
  return status != 0 ? status : freed;
}

int32_t copy_in(ShoalCudaStream* stream, void* data, const void* host, size_t bytes) {
  if (const auto status = enter(stream)) {
    return status;
  }
  return stream->staging.put(data, host, bytes);
}

int32_t copy_out(ShoalCudaStream* stream, void* host, const void* data, size_t bytes) {
  if (const auto status = enter(stream)) {
    return status;
  }
  return stream->staging.get(host, data, bytes);
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
  return shoal::ops::cuda::product(stream, {a, lda, transpose_a != 0}, {b, ldb, transpose_b != 0},
                                   {c, n, add != 0}, m, n, k);
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
      shoal_cuda_conv(),
      shoal_cuda_exact(),
      shoal_cuda_loss(),
      shoal_cuda_norm(),
      shoal_cuda_pointwise(),
      shoal_cuda_sequence(),
      shoal_cuda_update(),
  };
  return &table;
}
