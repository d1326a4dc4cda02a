#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// A row of numbers for each integer. Shapes: x [N, ...] i32 in [0, vocabulary) -> y [N, ...,
/// width]; weight [vocabulary, width], normal, as PyTorch's Embedding. Gradients are added in the
/// order of the integers.
LayerEntry embedding_entry();

}  // namespace shoal::ops
