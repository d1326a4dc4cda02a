#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// The mean of each channel. Shapes: x [N, C, ...] -> y [N, C].
LayerEntry global_avg_pool_entry();

}  // namespace shoal::ops
