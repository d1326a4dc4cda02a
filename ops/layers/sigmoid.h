#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = 1 / (1 + e^-x). Shapes: x -> y alike.
LayerEntry sigmoid_entry();

}  // namespace shoal::ops
