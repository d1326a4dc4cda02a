#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/cpu/room.h"
#include "ops/cpu/terms.h"

/// Products of our own on the widest vectors of the machine at hand, for where OpenBLAS leaves
/// time: small and skinny matrices, and one right-hand side used many times.
namespace shoal::ops::cpu {

/// A row-major matrix in memory, seen transposed or not.
struct Matrix {
  const float* data;
  std::size_t stride;  ///< elements from one row in memory to the next
  bool transposed;
};

/// Where the left side of tiles lies: element (row, k) of a tile that begins with row r at
/// data[r * tile_stride + row * row_stride + k * k_stride].
struct ProductLeft {
  const float* data;
  std::size_t tile_stride;
  std::size_t row_stride;
  std::size_t k_stride;
};

/// Where the right side lies: panels of panel_cols() columns, whose element (k, column j of the
/// panel that begins with column c) is data[c * col_stride + k * k_stride + j]. k_stride 0: as wide
/// as the panel is packed, of n columns in all.
struct ProductRight {
  const float* data;
  std::size_t col_stride;
  std::size_t k_stride;
  std::size_t n;
};

/// Rows of each tile of m rows, at most 6 and about as many in the last; 0 of none.
constexpr std::size_t rows_of_tile(std::size_t m) {
  const std::size_t tiles = m < 6 ? 1 : (m + 5) / 6;
  return (m + tiles - 1) / tiles;
}

/// Whether product() is faster than OpenBLAS on this machine: it needs vectors of 8 lanes or more.
bool product_is_fast();

/// A right-hand side laid out for the kernel, once for many products. Memory is used again.
class PackedMatrix {
 public:
  /// Shapes: op(b) [k, n].
  void pack(Matrix b, std::size_t k, std::size_t n);
  /// What it holds, and what it takes for op(b) [k, n].
  [[nodiscard]] std::size_t bytes() const { return memory_.capacity() * sizeof(float); }
  static std::size_t bytes_for(std::size_t k, std::size_t n);
  [[nodiscard]] std::size_t k() const { return k_; }
  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] const float* data() const { return aligned_; }

 private:
  Floats memory_;
  float* aligned_ = nullptr;
  std::size_t k_ = 0;
  std::size_t n_ = 0;
};

/// Columns of a panel of a packed right-hand side, and how many of them a vector holds. A panel is
/// [k][panel_cols()]; the last holds only as many whole vectors as it needs.
std::size_t panel_cols();
std::size_t vector_lanes();

/// to [m, n] = from [n, m] transposed; strides are those of rows in memory.
void transpose(const float* from, std::size_t from_stride, std::size_t m, std::size_t n, float* to,
               std::size_t to_stride);

/// Memory of product(), used again by the next.
struct ProductScratch {
  PackedMatrix b;
  Floats a;
  Floats turned;
  Room block;
  std::vector<Term> terms;
  std::vector<std::size_t> ends;
};

/// c [m, n] = op(a) [m, k] op(b) [k, n] (+ c). Products are summed in blocks along k, fused with
/// their sums. Requires: n, k > 0.
void product(Matrix a, Matrix b, float* c, std::size_t c_stride, std::size_t m, std::size_t n,
             std::size_t k, bool add, ProductScratch& scratch);
/// The same with the first `n` columns and `k` rows of a right side packed before, in one block.
void product(Matrix a, const PackedMatrix& b, float* c, std::size_t c_stride, std::size_t m,
             std::size_t n, std::size_t k, bool add);
/// The kernel alone, with a right-hand side [k, n] in panels that somebody else laid out.
void product(const ProductLeft& a, const float* panels, float* c, std::size_t c_stride,
             std::size_t m, std::size_t n, std::size_t k, bool add);
/// The same with columns that lie anywhere. Requires: whole vectors of `b` may be read.
void product(const ProductLeft& a, const ProductRight& b, std::size_t k, float* c,
             std::size_t c_stride, std::size_t m, std::size_t n, bool add);

}  // namespace shoal::ops::cpu
