#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// x / sqrt(mean of squares + eps) * weight over the last dimension.
/// Shapes: x [N, ..., C] -> y alike; weight [C].
/// Source: Zhang, Sennrich, "Root mean square layer normalization", arXiv 1910.07467, equation 4;
/// eps lies under the root.
LayerEntry rms_norm_entry();

}  // namespace shoal::ops
