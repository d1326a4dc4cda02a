#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = max(x, 0). Shapes: x -> y alike.
LayerEntry relu_entry();

}  // namespace shoal::ops
