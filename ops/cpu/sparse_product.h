#pragma once

#include "ops/cpu/product.h"

namespace shoal::ops::cpu {

/// c = op(a) op(b) over those elements of op(a) that are not 0, where at least 3 of 8 seem to be:
/// what comes out of a ReLU, the gradient behind one, many images. False: it would not pay, and c
/// is as it was.
bool sparse_product(const Matrix& a, const Matrix& b, float* c, std::size_t c_stride, std::size_t m,
                    std::size_t n, std::size_t k, ProductScratch& scratch);

}  // namespace shoal::ops::cpu
