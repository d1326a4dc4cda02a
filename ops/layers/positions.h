#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Adds to each place of a sequence what was learned for it. Shapes: x [N, T, D] -> y alike;
/// weight [context, D], of which the first T rows are used.
LayerEntry positions_entry();

}  // namespace shoal::ops
