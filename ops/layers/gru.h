#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Gated recurrent units from a state of zeros, the whole sequence of outputs. Names, shapes and
/// the order of gates (r, z, n) as PyTorch's GRU. Shapes: x [N, T, F] -> y [N, T, hidden].
LayerEntry gru_entry();

}  // namespace shoal::ops
