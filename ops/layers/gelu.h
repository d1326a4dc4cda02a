#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = x Phi(x), Phi the share of a standard normal below x; `approximate = "tanh"` as PyTorch's.
/// Shapes: x -> y alike. Source: Hendrycks and Gimpel, arXiv 1606.08415, section 2.
LayerEntry gelu_entry();

}  // namespace shoal::ops
