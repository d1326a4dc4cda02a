#include "ops/cpu/turned_product.h"

#include <algorithm>

namespace shoal::ops::cpu {
namespace {

constexpr std::size_t kDeep = 512;  // of k in one block, as in product()

/// A layer's x W^T: a, of few rows, is then what is laid out, and its rows fill whole vectors.
bool few_rows(const Matrix& a, const Matrix& b, std::size_t m, std::size_t n, std::size_t k) {
  return !a.transposed && b.transposed && m <= panel_cols() && m % vector_lanes() == 0 &&
         n >= 2 * m && k >= 64;
}

/// The gradient of a weight of few columns: they would not fill a vector, and a, which is long,
/// would be laid out for them. Turned, it is read once where it lies.
bool few_columns(const Matrix& a, const Matrix& b, std::size_t m, std::size_t n, std::size_t k) {
  return a.transposed && !b.transposed && n <= vector_lanes() / 2 && m % panel_cols() == 0 &&
         k >= 64;
}

}  // namespace

bool turned_product(const Matrix& a, const Matrix& b, float* c, std::size_t c_stride, std::size_t m,
                    std::size_t n, std::size_t k, ProductScratch& scratch) {
  const bool columns = few_columns(a, b, m, n, k);
  if (!columns && !few_rows(a, b, m, n, k)) {
    return false;
  }
  scratch.turned.resize(std::max(scratch.turned.size(), m * n));
  float* turned = scratch.turned.data();
  if (columns) {
    product(ProductLeft{b.data, 1, 1, b.stride}, ProductRight{a.data, 1, a.stride, m}, k, turned, m,
            n, m, false);
  }
  for (std::size_t i = 0; !columns && i < k; i += kDeep) {
    const std::size_t depth = std::min(kDeep, k - i);
    scratch.b.pack({a.data + i, a.stride, true}, depth, m);
    product(ProductLeft{b.data + i, b.stride, b.stride, 1}, scratch.b.data(), turned, m, n, m,
            depth, i > 0);
  }
  transpose(turned, m, m, n, c, c_stride);
  return true;
}

}  // namespace shoal::ops::cpu
