#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/architecture.h"
#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Bytes that training takes, computed from shapes alone.
struct MemoryPlan {
  std::uint64_t parameters = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t buffers = 0;
  std::uint64_t activations = 0;  ///< of all micro-batches in flight
  std::uint64_t workspace = 0;    ///< the batch on its way in, gradients of activations

  [[nodiscard]] std::uint64_t total() const {
    return parameters + gradients + optimizer + buffers + activations + workspace;
  }
};

/// What a dry run is asked.
struct MemoryQuestion {
  std::size_t micro_batch = 1;  ///< samples of one pass
  std::size_t in_flight = 1;    ///< passes that are remembered at once
  std::size_t first_layer = 0;
  std::size_t end_layer = 0;  ///< 0: to the end
};

/// Shape-only: nothing is allocated. float32 reals.
/// Requires: the options passed the entry's specs.
MemoryPlan plan_memory(const Architecture& architecture, const MemoryQuestion& question,
                       const OptimizerEntry& optimizer, const Options& optimizer_options);

}  // namespace shoal::ops
