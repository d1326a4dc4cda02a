#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// Multi-head causal self-attention with its projections: a place sees itself and those before it.
/// Memory is linear in the length. Parameters as PyTorch's MultiheadAttention: in_proj_weight
/// [3D, D] (rows of q, k, v), in_proj_bias [3D], out_proj.weight [D, D], out_proj.bias [D].
/// Shapes: x [N, T, D] -> y alike.
/// Source: Vaswani et al., arXiv 1706.03762, section 3.2; Dao et al., arXiv 2205.14135.
LayerEntry attention_entry();

}  // namespace shoal::ops
