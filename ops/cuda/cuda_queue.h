#pragma once

#include <cstdint>

#include "ops/cuda/table.h"

namespace shoal::ops {

/// What the families of operations of one CUDA device share. Closes the stream, after them.
struct CudaQueue {
  const ShoalCudaTable& table;
  ShoalCudaStream* stream;
  std::int32_t failed = 0;

  CudaQueue(const ShoalCudaTable& table_in, ShoalCudaStream* stream_in)
      : table(table_in), stream(stream_in) {}
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() { table.close(stream); }

  /// Keeps the first failure for finish(): launches are asynchronous, so their faults show late
  /// anyway.
  void note(std::int32_t status) { failed = failed == 0 ? status : failed; }
};

}  // namespace shoal::ops
