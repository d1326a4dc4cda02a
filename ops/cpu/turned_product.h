#pragma once

#include "ops/cpu/product.h"

namespace shoal::ops::cpu {

/// c [m, n] = op(a) op(b) as c^T = op(b)^T op(a)^T where that is cheaper; false where it isn't, and
/// nothing was done.
bool turned_product(const Matrix& a, const Matrix& b, float* c, std::size_t c_stride, std::size_t m,
                    std::size_t n, std::size_t k, ProductScratch& scratch);

}  // namespace shoal::ops::cpu
