#pragma once

#include <cstdint>

#include "ops/cuda/table.h"

namespace shoal::ops {

/// What the families of operations of one CUDA device share.
struct CudaQueue {
  const ShoalCudaTable& table;
  ShoalCudaStream* stream;
  std::int32_t failed = 0;

  /// Keeps the first failure for finish(): launches are asynchronous, so their faults show late
  /// anyway.
  void note(std::int32_t status) { failed = failed == 0 ? status : failed; }
};

}  // namespace shoal::ops
