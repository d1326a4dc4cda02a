#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace shoal::compress {

/// Length of a transform.
inline constexpr std::size_t kDctSize = 64;
/// A transform in each column, so that columns fill vectors.
using DctMatrix = std::array<float, kDctSize * kDctSize>;

/// entry(k, j) = c_k cos(pi (2j + 1) k / 128), c_0 = 1/8, else sqrt(2)/8: the orthonormal DCT-II.
float dct_entry(std::size_t k, std::size_t j);

/// out = A x and out = A^T x with that matrix, in fp32, every sum in the same order on every
/// machine. Sums and differences of x first, so that each half of the outputs needs half of the
/// products, and again for the even half: a third of the products of the plain matrix.
/// Requires: |x| < 2^121, so that no sum overflows; x and out are different. x is used up.
void dct_forward(DctMatrix& x, DctMatrix& out);
void dct_inverse(const DctMatrix& x, DctMatrix& out);

}  // namespace shoal::compress
