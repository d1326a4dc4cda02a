#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// The mean of each window, padding counted as zeros. PyTorch's AvgPool2d.
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
LayerEntry avg_pool_entry();

}  // namespace shoal::ops
