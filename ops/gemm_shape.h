#pragma once

#include <cstddef>

#include "ops/backend.h"

namespace shoal::ops {

/// The sizes of c [m, n] = op(a) [m, k] op(b) [k, n], and of the rows in memory.
struct GemmShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  std::size_t lda = 0;
  std::size_t ldb = 0;
};

/// Requires: shapes that fit (checked). Higher ranks are folded into rows.
GemmShape gemm_shape(const ConstTensorView& a, Transpose op_a, const ConstTensorView& b,
                     Transpose op_b, const ConstTensorView& c);

}  // namespace shoal::ops
