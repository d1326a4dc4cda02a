#pragma once

#include <cstddef>

#include "ops/kernels/loss.h"

namespace shoal::ops::cpu {

/// kernels::SoftmaxCrossEntropy on the widest vectors at hand. Sums run in lanes, so bits are not
/// those of the body.
void softmax_cross_entropy(const kernels::SoftmaxCrossEntropy<float>& body, std::size_t rows);

}  // namespace shoal::ops::cpu
