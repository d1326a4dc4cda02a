#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last dimension, as PyTorch's
/// LayerNorm. Shapes: x [N, ..., C] -> y alike; weight [C], bias [C]. Source: Ba et al., "Layer
/// normalization", arXiv 1607.06450, equation 4.
LayerEntry layer_norm_entry();

}  // namespace shoal::ops
