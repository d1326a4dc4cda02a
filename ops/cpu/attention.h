#pragma once

#include <cstddef>

#include "ops/kernels/attention.h"

/// Rows of attention on the widest vectors at hand. Sums run in lanes, so bits are not those of the
/// bodies; products beside them differ anyway. Requires: rows of tiles begin on a cache line.
namespace shoal::ops::cpu {

void attention_weights(const kernels::AttentionWeights<float>& tile, std::size_t rows);
void attention_weights_backward(const kernels::AttentionWeightsBackward<float>& tile,
                                std::size_t rows);

}  // namespace shoal::ops::cpu
