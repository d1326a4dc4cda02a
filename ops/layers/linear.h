#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = activation(x W^T + b), the bias and the activation in one pass over y.
/// Shapes: x [N, ..., in] -> y [N, ..., out]; weight [out, in], bias [out], as PyTorch's Linear.
LayerEntry linear_entry();

}  // namespace shoal::ops
