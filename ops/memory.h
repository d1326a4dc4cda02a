#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/architecture.h"
#include "ops/base/result.h"
#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Bytes that training takes on its device, computed from shapes alone.
struct MemoryPlan {
  std::uint64_t parameters = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer = 0;  ///< its state, and what a step of it takes besides
  std::uint64_t buffers = 0;
  std::uint64_t activations = 0;  ///< of all micro-batches in flight
  std::uint64_t workspace = 0;    ///< gradients of activations, the loss, the input on a GPU
  std::uint64_t device = 0;  ///< what the device keeps for its own use: columns of convolutions

  [[nodiscard]] std::uint64_t total() const {
    return parameters + gradients + optimizer + buffers + activations + workspace + device;
  }
};

/// What a dry run is asked.
struct MemoryQuestion {
  std::size_t micro_batch = 1;  ///< samples of one pass
  std::size_t in_flight = 1;    ///< passes that are remembered at once
  std::size_t first_layer = 0;
  std::size_t end_layer = 0;  ///< 0: to the end
  /// A CPU uses a batch where it lies; elsewhere it is copied.
  DeviceKind device = DeviceKind::kCpu;
  std::vector<Segment> recompute;  ///< as Model::set_recompute
};

/// What is trained, and how: the parts of every dry run that do not vary.
struct TrainingShape {
  const Architecture& architecture;
  const OptimizerEntry& optimizer;
  const Options& optimizer_options;  ///< passed the entry's specs
};

/// Shape-only: nothing is allocated. float32 reals. What a peak of Model and Optimizer is measured
/// to be lies within 10 %.
MemoryPlan plan_memory(const TrainingShape& training, const MemoryQuestion& question);

/// The largest micro-batch with which `batch` samples fit into `budget` bytes: the batch in one
/// pass, or in two, three, ... of equal size (the last may be smaller). micro_batch of the question
/// does not count. Errors: kDevice when one sample does not fit, with what it takes.
Result<std::size_t> fit_micro_batch(const TrainingShape& training, MemoryQuestion question,
                                    std::size_t batch, std::uint64_t budget);

/// Segments to compute again so that training fits into `budget` bytes, with little computed twice
/// (none when it fits as it is): windows of equal length of the layers held, of every length, those
/// first that free most for what they cost; the cheapest choice that fits. recompute of the
/// question does not count. Errors: kDevice when nothing fits, with the least it takes.
/// Source: Chen et al., "Training deep nets with sublinear memory cost", arXiv 1604.06174.
Result<std::vector<Segment>> fit_recompute(const TrainingShape& training, MemoryQuestion question,
                                           std::uint64_t budget);

}  // namespace shoal::ops
