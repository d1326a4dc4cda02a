#include "ops/cpu/product.h"

#include <algorithm>

#include "ops/base/check.h"
#include "ops/cpu/fixed_width.h"
#include "ops/cpu/sparse_product.h"
#include "ops/cpu/turned_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/product.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as Highway asks.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef SHOAL_OPS_CPU_PRODUCT_TILES
#define SHOAL_OPS_CPU_PRODUCT_TILES
namespace shoal::ops::cpu {
namespace {
constexpr std::size_t kTilePad = 3;  // of k: tiles begin in different sets of the first cache
}  // namespace
}  // namespace shoal::ops::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::ops::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
using Tag = hn::CappedTag<float, 1>;
#else
using Tag = hn::ScalableTag<float>;
#endif
using V = hn::Vec<Tag>;

// A tile of 6 rows by 4 vectors fills the 32 registers of AVX-512 and NEON; 16 registers hold 6
// by 2. Its sums stay in registers while k runs, so memory is asked for 4 + 6 values a 24 products.
constexpr std::size_t kRows = 6;
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM
constexpr std::size_t kVectors = 4;
#else
constexpr std::size_t kVectors = 2;
#endif

HWY_ATTR std::size_t lanes() { return hn::Lanes(Tag()); }
HWY_ATTR std::size_t panel_cols() { return kVectors * lanes(); }

/// One row of a tile. Its constructor, like those below, is written out because an implicit one
/// would be compiled for the baseline of the processor, not for this target.
template <std::size_t kCount>
struct Row {
  HWY_ATTR HWY_INLINE Row() {}
  V head;
  Row<kCount - 1> tail;
};
template <>
struct Row<1> {
  HWY_ATTR HWY_INLINE Row() {}
  V head;
};

/// A tile: rows one below the other.
template <std::size_t kCount, std::size_t kWide>
struct Tile {
  HWY_ATTR HWY_INLINE Tile() {}
  Row<kWide> row;
  Tile<kCount - 1, kWide> below;
};
template <std::size_t kWide>
struct Tile<1, kWide> {
  HWY_ATTR HWY_INLINE Tile() {}
  Row<kWide> row;
};

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void clear(Row<kCount>& row) {
  row.head = hn::Zero(Tag());
  if constexpr (kCount > 1) {
    clear(row.tail);
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void load(const float* from, Row<kCount>& row) {
  row.head = hn::LoadU(Tag(), from);
  if constexpr (kCount > 1) {
    load(from + hn::Lanes(Tag()), row.tail);
  }
}

template <std::size_t kCount>
HWY_ATTR HWY_INLINE void multiply_add(V factor, const Row<kCount>& b, Row<kCount>& sum) {
  sum.head = hn::MulAdd(factor, b.head, sum.head);
  if constexpr (kCount > 1) {
    multiply_add(factor, b.tail, sum.tail);
  }
}

/// Writes the first `left` columns of a row.
template <std::size_t kCount>
HWY_ATTR HWY_INLINE void store(const Row<kCount>& row, float* c, std::size_t left, bool add) {
  const Tag d;
  const std::size_t wide = hn::Lanes(d);
  if (left >= wide) {
    hn::StoreU(add ? hn::Add(hn::LoadU(d, c), row.head) : row.head, d, c);
  } else {
    HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(row.head, d, part);
    for (std::size_t i = 0; i < left; ++i) {
      c[i] = add ? c[i] + part[i] : part[i];
    }
  }
  if constexpr (kCount > 1) {
    if (left > wide) {
      store(row.tail, c + wide, left - wide, add);
    }
  }
}

template <std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_INLINE void clear(Tile<kCount, kWide>& tile) {
  clear(tile.row);
  if constexpr (kCount > 1) {
    clear(tile.below);
  }
}

template <std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_INLINE void multiply_add(const float* a, std::size_t stride, const Row<kWide>& b,
                                      Tile<kCount, kWide>& sum) {
  multiply_add(hn::Set(Tag(), *a), b, sum.row);
  if constexpr (kCount > 1) {
    multiply_add(a + stride, stride, b, sum.below);
  }
}

/// A whole row, which needs no questions.
template <bool kAdd, std::size_t kCount>
HWY_ATTR HWY_INLINE void store_whole(const Row<kCount>& row, float* c) {
  const Tag d;
  hn::StoreU(kAdd ? hn::Add(hn::LoadU(d, c), row.head) : row.head, d, c);
  if constexpr (kCount > 1) {
    store_whole<kAdd>(row.tail, c + hn::Lanes(d));
  }
}

template <bool kAdd, std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_INLINE void store_whole(const Tile<kCount, kWide>& tile, float* c,
                                     std::size_t stride) {
  store_whole<kAdd>(tile.row, c);
  if constexpr (kCount > 1) {
    store_whole<kAdd>(tile.below, c + stride, stride);
  }
}

template <std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_INLINE void store(const Tile<kCount, kWide>& tile, float* c, std::size_t stride,
                               std::size_t left, bool add) {
  store(tile.row, c, left, add);
  if constexpr (kCount > 1) {
    store(tile.below, c + stride, stride, left, add);
  }
}

template <std::size_t kWide>
HWY_ATTR HWY_INLINE void fetch(const float* c) {
  for (std::size_t i = 0; i < kWide; ++i) {
    hwy::Prefetch(c + i * hn::Lanes(Tag()));
  }
}

/// One tile of a panel of right-hand columns.
struct TileTask {
  ProductLeft a;
  const float* b;
  std::size_t b_stride;  // of the panel, which may be wider than the tile
  std::size_t k;
  float* c;
  std::size_t c_stride;
  std::size_t cols;
  bool add;
};

template <std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_INLINE void multiply_add(const TileTask& task, const float* a, const float* b,
                                      Tile<kCount, kWide>& sum) {
  Row<kWide> row;
  load(b, row);
  multiply_add(a, task.a.row_stride, row, sum);
}

template <std::size_t kCount, std::size_t kWide>
HWY_ATTR HWY_NOINLINE void run_tile(const TileTask& task) {
  Tile<kCount, kWide> sum;
  clear(sum);
  const float* a = task.a.data;
  const float* b = task.b;
  // The memory of the result is asked for meanwhile, a row at a time, so that nothing waits.
  const float* c = task.c;
  const std::size_t few = std::min(task.k, kCount);
  for (std::size_t i = few; i > 0; --i, c += task.c_stride) {
    fetch<kWide>(c);
    multiply_add(task, a, b, sum);
    a += task.a.k_stride;
    b += task.b_stride;
  }
  for (std::size_t i = task.k - few; i > 0; --i) {
    multiply_add(task, a, b, sum);
    a += task.a.k_stride;
    b += task.b_stride;
  }
  if (task.cols < kWide * hn::Lanes(Tag())) {
    store(sum, task.c, task.c_stride, task.cols, task.add);
  } else if (task.add) {
    store_whole<true>(sum, task.c, task.c_stride);
  } else {
    store_whole<false>(sum, task.c, task.c_stride);
  }
}

template <std::size_t kWide>
HWY_ATTR void run_rows(std::size_t rows, const TileTask& task) {
  switch (rows) {
    case 1:
      return run_tile<1, kWide>(task);
    case 2:
      return run_tile<2, kWide>(task);
    case 3:
      return run_tile<3, kWide>(task);
    case 4:
      return run_tile<4, kWide>(task);
    case 5:
      return run_tile<5, kWide>(task);
    default:
      return run_tile<6, kWide>(task);
  }
}

HWY_ATTR void run_tile_of(std::size_t rows, std::size_t vectors, const TileTask& task) {
  switch (vectors) {
    case 1:
      return run_rows<1>(rows, task);
    case 2:
      return run_rows<2>(rows, task);
    case 3:
      return run_rows<std::min<std::size_t>(3, kVectors)>(rows, task);
    default:
      return run_rows<kVectors>(rows, task);
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
/// Rows kRow, kRow + 4, ... from four columns, each in a block of 128 bits.
template <std::size_t kRow, typename D>
HWY_ATTR HWY_INLINE hn::Vec<D> load_blocks(D d, const float* from, std::size_t stride) {
  const auto row = hn::LoadDup128(d, from + kRow * stride);
  if constexpr (kRow + 4 < hn::MaxLanes(D())) {
    return hn::IfThenElse(hn::FirstN(d, kRow / 4 * 4 + 4), row,
                          load_blocks<kRow + 4>(d, from, stride));
  } else {
    return row;
  }
}
#endif

/// As many rows of `from` as a vector has lanes become columns of `to`, side by side: 4 by 4 are
/// turned in each block of 128 bits.
template <typename D>
HWY_ATTR void transpose_few(D d, const float* from, std::size_t stride, std::size_t k, float* to,
                            std::size_t width) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  for (; i + 4 <= k; i += 4, to += 4 * width) {
    const auto r0 = load_blocks<0>(d, from + i, stride);
    const auto r1 = load_blocks<1>(d, from + i, stride);
    const auto r2 = load_blocks<2>(d, from + i, stride);
    const auto r3 = load_blocks<3>(d, from + i, stride);
    const auto s0 = hn::InterleaveLower(d, r0, r2);
    const auto s1 = hn::InterleaveLower(d, r1, r3);
    const auto s2 = hn::InterleaveUpper(d, r0, r2);
    const auto s3 = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, s0, s1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, s0, s1), d, to + width);
    hn::StoreU(hn::InterleaveLower(d, s2, s3), d, to + 2 * width);
    hn::StoreU(hn::InterleaveUpper(d, s2, s3), d, to + 3 * width);
  }
#endif
  for (; i < k; ++i, to += width) {
    for (std::size_t row = 0; row < hn::Lanes(d); ++row) {
      to[row] = from[row * stride + i];
    }
  }
}

/// to [k, rows] = from [rows, k] transposed.
HWY_ATTR void transpose_rows(const float* from, std::size_t stride, std::size_t rows, std::size_t k,
                             float* to, std::size_t width) {
  const hn::CappedTag<float, 4> d4;
  const Tag d;
  std::size_t row = 0;
  for (; row + hn::Lanes(d) <= rows; row += hn::Lanes(d)) {
    transpose_few(d, from + row * stride, stride, k, to + row, width);
  }
  for (; row + hn::Lanes(d4) <= rows; row += hn::Lanes(d4)) {
    transpose_few(d4, from + row * stride, stride, k, to + row, width);
  }
  for (; row < rows; ++row) {
    for (std::size_t i = 0; i < k; ++i) {
      to[i * width + row] = from[row * stride + i];
    }
  }
}

/// Fewer values than a vector holds, filled up with zeros; nothing beyond is read.
HWY_ATTR HWY_INLINE V load_first(const float* from, std::size_t count) {
  const Tag d;
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(from, count, part);
  return hn::Load(d, part);
#endif
}

/// One panel [k][width] of `cols` columns, filled up with zeros.
HWY_ATTR void pack_panel(const Matrix& b, std::size_t first, std::size_t k, std::size_t cols,
                         std::size_t width, float* out) {
  if (!b.transposed) {
    const Tag d;
    const std::size_t step = hn::Lanes(d);
    for (std::size_t i = 0; i < k; ++i, out += width) {
      const float* from = b.data + i * b.stride + first;
      std::size_t j = 0;
      for (; j + step <= cols; j += step) {
        hn::Store(hn::LoadU(d, from + j), d, out + j);
      }
      if (j < width) {
        hn::Store(load_first(from + j, cols - j), d, out + j);
      }
    }
    return;
  }
  // Rows of a panel lie a power of two apart and share few sets of the first cache.
  constexpr std::size_t kRowsAtOnce = 64;
  for (std::size_t i = 0; i < k; i += kRowsAtOnce) {
    transpose_rows(b.data + first * b.stride + i, b.stride, cols, std::min(kRowsAtOnce, k - i),
                   out + i * width, width);
  }
  for (std::size_t i = 0; i < k && cols < width; ++i) {
    std::fill(out + i * width + cols, out + (i + 1) * width, 0.0F);
  }
}

/// Panels of panel_cols() columns, each [k][panel_cols()]; the last has only as many vectors as it
/// needs.
HWY_ATTR void pack_right(const Matrix& b, std::size_t k, std::size_t n, float* out) {
  const std::size_t wide = panel_cols();
  const std::size_t step = lanes();
  for (std::size_t first = 0; first < n; first += wide) {
    const std::size_t cols = std::min(wide, n - first);
    const std::size_t width = (cols + step - 1) / step * step;
    pack_panel(b, first, k, cols, width, out);
    out += k * width;
  }
}

/// Columns of `a` [k, m], a tile of kRows of them behind the other, each [k + kTilePad][kRows].
template <std::size_t kRows>
HWY_ATTR void pack_tiles(const Matrix& a, std::size_t k, std::size_t m, float* to) {
  constexpr std::size_t kAhead = 10;  // rows lie in pages of their own, which nobody else foresees
  constexpr std::size_t kLine = 16;   // floats of a cache line
  // A store may be wider than a row of a tile: it runs over into the next, which comes later, or
  // into the padding.
  const hn::CappedTag<float, 8> d;
  const std::size_t wide = hn::Lanes(d);
  const std::size_t tile = kRows * (k + kTilePad);
  const float* from = a.data;
  for (std::size_t i = 0; i < k; ++i, from += a.stride, to += kRows) {
    for (std::size_t row = 0; i + kAhead < k && row < m; row += kLine) {
      hwy::Prefetch(from + kAhead * a.stride + row);
    }
    float* out = to;
    std::size_t row = 0;
    for (; row + 8 <= m; row += kRows, out += tile) {
      for (std::size_t j = 0; j < kRows; j += wide) {
        hn::StoreU(hn::LoadU(d, from + row + j), d, out + j);
      }
    }
    for (; row < m; row += kRows, out += tile) {
      std::copy_n(from + row, std::min(kRows, m - row), out);
    }
  }
}

/// Requires: tiles of 4 rows or more.
HWY_ATTR void pack_tiles_of(std::size_t rows, const Matrix& a, std::size_t k, std::size_t m,
                            float* to) {
  switch (rows) {
    case 4:
      return pack_tiles<4>(a, k, m, to);
    case 5:
      return pack_tiles<5>(a, k, m, to);
    default:
      return pack_tiles<6>(a, k, m, to);
  }
}

HWY_ATTR void multiply(const ProductLeft& a, const ProductRight& b, std::size_t k, float* c,
                       std::size_t c_stride, std::size_t m, std::size_t n, bool add) {
  const std::size_t wide = panel_cols();
  const std::size_t step = lanes();
  const std::size_t rows_each = rows_of_tile(m);
  for (std::size_t row = 0; row < m; row += rows_each) {
    const std::size_t rows = std::min(rows_each, m - row);
    const ProductLeft left{a.data + row * a.tile_stride, a.tile_stride, a.row_stride, a.k_stride};
    for (std::size_t col = 0; col < n; col += wide) {
      const std::size_t cols = std::min(wide, n - col);
      const std::size_t packed = (std::min(wide, b.n - col) + step - 1) / step * step;
      run_tile_of(rows, (cols + step - 1) / step,
                  {left, b.data + col * b.col_stride, b.k_stride == 0 ? packed : b.k_stride, k,
                   c + row * c_stride + col, c_stride, cols, add});
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal::ops::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::ops::cpu {
namespace {

HWY_EXPORT(lanes);
HWY_EXPORT(panel_cols);
HWY_EXPORT(pack_right);
HWY_EXPORT(multiply);
HWY_EXPORT(transpose_rows);
HWY_EXPORT(pack_tiles_of);

constexpr std::size_t kAlign = 16;          // floats of a cache line
constexpr std::size_t kDeep = 512;          // of k in one block: a tile's left side stays in L1
constexpr std::size_t kRight = 128 * 1024;  // floats of a packed right side: half of a usual L2
constexpr std::size_t kShort = 512;         // rows of a right side that need no packing
constexpr std::size_t kFew = 64;            // rows of a left side that do not pay for packing
constexpr std::size_t kTall = 192;          // rows of a block of a transposed left side

}  // namespace

std::size_t panel_cols() { return HWY_DYNAMIC_DISPATCH(panel_cols)(); }
std::size_t vector_lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

void product(const ProductLeft& a, const float* panels, float* c, std::size_t c_stride,
             std::size_t m, std::size_t n, std::size_t k, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply)(a, {panels, k, 0, n}, k, c, c_stride, m, n, add);
}

void product(const ProductLeft& a, const ProductRight& b, std::size_t k, float* c,
             std::size_t c_stride, std::size_t m, std::size_t n, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply)(a, b, k, c, c_stride, m, n, add);
}

void transpose(const float* from, std::size_t from_stride, std::size_t m, std::size_t n, float* to,
               std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_rows)(from, from_stride, n, m, to, to_stride);
}

bool product_is_fast() { return HWY_DYNAMIC_DISPATCH(lanes)() >= 8; }

std::size_t PackedMatrix::bytes_for(std::size_t k, std::size_t n) {
  const std::size_t wide = HWY_DYNAMIC_DISPATCH(panel_cols)();
  return (k * ((n + wide - 1) / wide * wide) + kAlign) * sizeof(float);
}

void PackedMatrix::pack(Matrix b, std::size_t k, std::size_t n) {
  const std::size_t size = bytes_for(k, n) / sizeof(float);
  if (memory_.size() < size) {
    memory_ = {};  // before there is more: both at once would be twice the memory
    memory_.resize(size);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  aligned_ = memory_.data() + (kAlign - address / sizeof(float) % kAlign) % kAlign;
  k_ = k;
  n_ = n;
  HWY_DYNAMIC_DISPATCH(pack_right)(b, k, n, aligned_);
}

void product(Matrix a, const PackedMatrix& b, float* c, std::size_t c_stride, std::size_t m,
             std::size_t n, std::size_t k, bool add) {
  SHOAL_CHECK(k <= b.k() && n <= b.n(), "a part of a packed matrix lies in it");
  const ProductLeft left = a.transposed ? ProductLeft{a.data, 1, 1, a.stride}
                                        : ProductLeft{a.data, a.stride, a.stride, 1};
  HWY_DYNAMIC_DISPATCH(multiply)
  (left, {b.data(), b.k(), 0, b.n()}, k, c, c_stride, m, n, add);
}

namespace {

/// k in blocks as deep as each other, about `usual`: every block reads and writes all of c.
std::size_t depth_of_block(std::size_t k, std::size_t usual) {
  const std::size_t blocks = std::max<std::size_t>(1, (k + usual / 2) / usual);
  return (k + blocks - 1) / blocks;
}

/// The transposed left side times a block of the right side. Tiles read 6 elements of each row of
/// `a` in memory; where rows lie pages apart, all fall into few sets of the caches, so blocks of
/// kTall columns are laid out tile by tile before.
void transposed_product(Matrix a, const ProductRight& b, std::size_t k, float* c,
                        std::size_t c_stride, std::size_t m, bool add, Floats& copy) {
  const bool apart = a.stride % 1024 == 0 && k >= 64;
  if (apart && copy.size() < kTall * (k + kTilePad)) {
    copy.resize(kTall * (k + kTilePad));
  }
  for (std::size_t row = 0; row < m; row += kTall) {
    const std::size_t rows = std::min(kTall, m - row);
    ProductLeft left{a.data + row, 1, 1, a.stride};
    if (apart && rows >= 4) {
      const std::size_t each = rows_of_tile(rows);
      HWY_DYNAMIC_DISPATCH(pack_tiles_of)
      (each, {left.data, a.stride, false}, k, rows, copy.data());
      left = {copy.data(), k + kTilePad, 1, each};
    }
    HWY_DYNAMIC_DISPATCH(multiply)
    (left, b, k, c + row * c_stride, c_stride, rows, b.n, add);
  }
}

}  // namespace

void product(Matrix a, Matrix b, float* c, std::size_t c_stride, std::size_t m, std::size_t n,
             std::size_t k, bool add, ProductScratch& scratch) {
  if (!add && sparse_product(a, b, c, c_stride, m, n, k, scratch)) {
    return;
  }
  if (!add && turned_product(a, b, c, c_stride, m, n, k, scratch)) {
    return;
  }
  // A left side that must be packed is packed once for each block of columns: wider blocks.
  const std::size_t deep = depth_of_block(k, a.transposed ? kDeep / 2 : kDeep);
  const std::size_t wide = HWY_DYNAMIC_DISPATCH(panel_cols)();
  const std::size_t across = std::max(wide, kRight / deep / wide * wide);
  // Whole vectors of a right side may be read where they lie; that pays where its rows are short or
  // it is used few times.
  const bool in_place =
      !b.transposed && n % vector_lanes() == 0 && (b.stride <= kShort || m <= kFew);
  for (std::size_t col = 0; col < n; col += across) {
    const std::size_t cols = std::min(across, n - col);
    for (std::size_t i = 0; i < k; i += deep) {
      const std::size_t depth = std::min(deep, k - i);
      const std::size_t at = b.transposed ? col * b.stride + i : i * b.stride + col;
      ProductRight right{b.data + at, 1, b.stride, cols};
      if (!in_place) {
        scratch.b.pack({b.data + at, b.stride, b.transposed}, depth, cols);
        right = {scratch.b.data(), depth, 0, cols};
      }
      const bool onto = add || i > 0;
      if (a.transposed) {
        transposed_product({a.data + i * a.stride, a.stride, true}, right, depth, c + col, c_stride,
                           m, onto, scratch.a);
      } else {
        HWY_DYNAMIC_DISPATCH(multiply)
        (ProductLeft{a.data + i, a.stride, a.stride, 1}, right, depth, c + col, c_stride, m, cols,
         onto);
      }
    }
  }
}

}  // namespace shoal::ops::cpu
#endif
