#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Gated recurrent units from a state of zeros, the whole sequence of outputs. Names, shapes and
/// the order of gates (r, z, n) as PyTorch's GRU. Shapes: x [N, T, F] -> y [N, T, hidden].
/// Source: Cho et al., arXiv 1406.1078, section 2.3; the reset gate multiplies the recurrent sum,
/// not the state before it, and z is the share that stays, both as in PyTorch.
LayerEntry gru_entry();

}  // namespace shoal::ops
