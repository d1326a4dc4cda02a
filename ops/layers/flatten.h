#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// All dimensions but the batch as one; no copy. Shapes: x [N, a, b, ...] -> [N, a*b*...].
LayerEntry flatten_entry();

}  // namespace shoal::ops
