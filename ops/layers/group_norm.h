#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Each group of channels of a sample normalised alone, as PyTorch's GroupNorm.
/// Shapes: x [N, C, ...] -> y alike; weight [C], bias [C].
/// Source: Wu, He, "Group normalization", arXiv 1803.08494, section 3.
LayerEntry group_norm_entry();

}  // namespace shoal::ops
