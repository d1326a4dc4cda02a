#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Each channel normalised over the batch, as PyTorch's BatchNorm. Running statistics are staged in
/// Saved and applied at step(); in eval mode they take the batch's place.
/// Shapes: x [N, C, ...] -> y alike; weight [C], bias [C], running_mean [C], running_var [C],
/// num_batches_tracked [1].
/// Source: Ioffe, Szegedy, arXiv 1502.03167, algorithm 1.
LayerEntry batch_norm_entry();

}  // namespace shoal::ops
