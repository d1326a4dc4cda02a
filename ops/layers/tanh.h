#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = tanh(x). Shapes: x -> y alike.
LayerEntry tanh_entry();

}  // namespace shoal::ops
