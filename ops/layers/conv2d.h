#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = maxpool(activation(x * w + b)), PyTorch's Conv2d with what usually follows it in the same
/// pass. Shapes: x [N, in, H, W], or [N, H, W] of one channel -> y [N, out, H', W']; weight [out,
/// in / groups, K, K], bias [out].
LayerEntry conv2d_entry();

}  // namespace shoal::ops
