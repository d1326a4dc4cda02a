#pragma once

#include <cstddef>

namespace shoal::bench {

/// The two products of a step of PowerSGD with rank 4, in a fixed order, and nothing else: what the
/// codec is measured against. Sums along a row are 16 partial ones, so any vector gives the same.
inline constexpr std::size_t kProductRank = 4;

/// factor = m basis^T. Shapes: m [rows, cols], basis [4, cols] -> factor [4, rows].
/// Requires: rows even, cols a multiple of 16.
void product_right(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                   float* factor);

/// factor += basis m. Shapes: m [rows, cols], basis [4, rows] -> factor [4, cols].
/// Requires: rows a multiple of 8, cols of 16.
void product_left(const float* m, std::size_t rows, std::size_t cols, const float* basis,
                  float* factor);

}  // namespace shoal::bench
