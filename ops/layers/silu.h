#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = x / (1 + e^-x), also called swish. Shapes: x -> y alike. Source: Elfwing et al., arXiv
/// 1702.03118.
LayerEntry silu_entry();

}  // namespace shoal::ops
