#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Each number becomes 0 with probability p, else x / (1 - p); x itself in evaluation. The mask
/// comes from Ctx::rng and an element's place, so it is drawn again instead of remembered, the same
/// on every device. Shapes: x -> y alike.
/// Source: Srivastava et al., JMLR 15 (2014), inverted as in PyTorch.
LayerEntry dropout_entry();

}  // namespace shoal::ops
