#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Long short-term memory from a state of zeros, the whole sequence of outputs. Names, shapes and
/// the order of gates (i, f, g, o) as PyTorch's LSTM. Shapes: x [N, T, F] -> y [N, T, hidden].
LayerEntry lstm_entry();

}  // namespace shoal::ops
