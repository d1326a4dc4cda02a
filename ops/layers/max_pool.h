#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// The largest of each window; padding never wins. PyTorch's MaxPool2d.
/// Shapes: x [N, C, H, W] -> y [N, C, H', W'].
LayerEntry max_pool_entry();

}  // namespace shoal::ops
