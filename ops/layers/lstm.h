#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Long short-term memory from a state of zeros, the whole sequence of outputs. Names, shapes and
/// the order of gates (i, f, g, o) as PyTorch's LSTM. Shapes: x [N, T, F] -> y [N, T, hidden].
/// Source: Hochreiter, Schmidhuber, Neural Computation 9 (1997), 1735-1780, with the forget gate of
/// Gers, Schmidhuber, Cummins, Neural Computation 12 (2000), 2451-2471.
LayerEntry lstm_entry();

}  // namespace shoal::ops
