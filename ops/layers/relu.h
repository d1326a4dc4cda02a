#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = max(x, 0). Shapes: any -> the same.
LayerEntry relu_entry();

}  // namespace shoal::ops
