#include "ops/cpu/sparse_product.h"

#include <algorithm>

namespace shoal::ops::cpu {
namespace {

constexpr std::size_t kDeep = 64;     // of k: a block of b stays in the first cache
constexpr std::size_t kColumns = 6;   // vectors of that block
constexpr std::size_t kWork = 65536;  // products below which looking costs more

/// Looks at 512 elements of a [m, k], spread evenly.
bool has_many_zeros(const Matrix& a, std::size_t m, std::size_t k) {
  const std::size_t rows = a.transposed ? k : m;
  const std::size_t cols = a.transposed ? m : k;
  const std::size_t some_rows = std::min<std::size_t>(rows, 8);
  const std::size_t some_cols = std::min<std::size_t>(cols, 64);
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < some_rows; ++i) {
    const float* row = a.data + i * rows / some_rows * a.stride;
    for (std::size_t j = 0; j < some_cols; ++j) {
      zeros += row[j * cols / some_cols] == 0.0F ? 1 : 0;
    }
  }
  return 8 * zeros >= 3 * some_rows * some_cols;
}

/// A run of k: `blocks` of about the same depth.
struct Depths {
  explicit Depths(std::size_t k_in)
      : k(k_in), blocks((k + kDeep - 1) / kDeep), deep((k + blocks - 1) / blocks) {}
  [[nodiscard]] std::size_t depth(std::size_t block) const {
    return std::min(deep, k - block * deep);
  }
  std::size_t k;
  std::size_t blocks;
  std::size_t deep;
};

/// The terms of every row of a, block of k by block of k.
void gather(const Matrix& a, std::size_t m, const Depths& depths, std::uint32_t width,
            ProductScratch& scratch) {
  const float* from = a.data;
  std::size_t stride = a.stride;
  if (a.transposed) {
    stride = depths.k;
    scratch.turned.resize(std::max(scratch.turned.size(), m * stride));
    transpose(a.data, a.stride, m, depths.k, scratch.turned.data(), stride);
    from = scratch.turned.data();
  }
  scratch.terms.resize(std::max(scratch.terms.size(), m * depths.k + kTermSlack));
  scratch.ends.resize(std::max(scratch.ends.size(), m * depths.blocks));
  std::size_t count = 0;
  for (std::size_t block = 0; block < depths.blocks; ++block) {
    for (std::size_t row = 0; row < m; ++row) {
      count += gather_terms(from + row * stride + block * depths.deep, depths.depth(block), width,
                            scratch.terms.data() + count);
      scratch.ends[block * m + row] = count;
    }
  }
}

/// Rows [first_row, first_row + rows) and columns [first, first + floats) of b, side by side.
void lay_out(const Matrix& b, std::size_t first_row, std::size_t rows, std::size_t first,
             std::size_t floats, float* to, std::size_t width) {
  if (b.transposed) {
    transpose(b.data + first * b.stride + first_row, b.stride, rows, floats, to, width);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(b.data + (first_row + i) * b.stride + first, floats, to + i * width);
  }
}

}  // namespace

bool sparse_product(const Matrix& a, const Matrix& b, float* c, std::size_t c_stride, std::size_t m,
                    std::size_t n, std::size_t k, ProductScratch& scratch) {
  const std::size_t lanes = vector_lanes();
  if (n < lanes || m * n * k < kWork || !has_many_zeros(a, m, k)) {
    return false;
  }
  const Depths depths(k);
  const std::size_t vectors = (n + lanes - 1) / lanes;
  // The last part may overlap the one before, whose sums it makes again.
  const std::size_t parts =
      std::max((vectors + kColumns - 1) / kColumns, std::size_t{n % lanes == 0 ? 1U : 2U});
  const std::size_t width = (vectors + parts - 1) / parts * lanes;
  gather(a, m, depths, static_cast<std::uint32_t>(width), scratch);
  float* laid_out = scratch.block.get(depths.deep * width);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * vectors / parts;
    const std::size_t floats = ((part + 1) * vectors / parts - begin) * lanes;
    const std::size_t first = std::min(begin * lanes, n - floats);
    for (std::size_t block = 0; block < depths.blocks; ++block) {
      lay_out(b, block * depths.deep, depths.depth(block), first, floats, laid_out, width);
      const std::size_t before = block == 0 ? 0 : scratch.ends[block * m - 1];
      sum_rows({scratch.terms.data(), scratch.ends.data() + block * m, before, m}, laid_out,
               c + first, c_stride, floats, block > 0);
    }
  }
  return true;
}

}  // namespace shoal::ops::cpu
