// For .cu files: how kernel bodies are started.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "ops/cuda/staging.h"
#include "ops/cuda/stream.h"

namespace shoal::ops::cuda {

/// The driver that Staging asks for.
struct RealDriver {
  using Queue = cudaStream_t;
  using Event = cudaEvent_t;
  int32_t copy(Queue queue, void* to, const void* from, size_t bytes) const {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, queue);
  }
  int32_t record(Event event, Queue queue) const { return cudaEventRecord(event, queue); }
  int32_t wait(Queue queue, Event event) const { return cudaStreamWaitEvent(queue, event, 0); }
  int32_t reach(Event event) const { return cudaEventSynchronize(event); }
};

}  // namespace shoal::ops::cuda

struct ShoalCudaStream {
  int device = 0;
  cudaStream_t queue = nullptr;  // of all work
  shoal::ops::cuda::Staging<shoal::ops::cuda::RealDriver> staging;
  cublasHandle_t blas = nullptr;
  float* tile = nullptr;  // of attention
  size_t tile_count = 0;
};

namespace shoal::ops::cuda {

/// Makes the stream's device current: the thread that computes need not be the one that opened it.
inline int32_t enter(const ShoalCudaStream* stream) { return cudaSetDevice(stream->device); }

template <typename Body>
__global__ void run(size_t count, Body body) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    body(i);
  }
}

/// The device's for_each_index: one thread an index, in a grid that strides when it must.
template <typename Body>
int32_t launch(ShoalCudaStream* stream, size_t count, const Body& body) {
  constexpr unsigned kBlock = 128;
  constexpr size_t kGridMax = 1 << 16;
  if (count == 0) {
    return 0;
  }
  if (const auto status = enter(stream)) {
    return status;
  }
  const size_t blocks = (count + kBlock - 1) / kBlock;
  run<<<static_cast<unsigned>(blocks < kGridMax ? blocks : kGridMax), kBlock, 0, stream->queue>>>(
      count, body);
  return cudaGetLastError();
}

}  // namespace shoal::ops::cuda
