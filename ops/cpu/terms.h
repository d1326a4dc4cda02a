#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::ops::cpu {

/// A multiple of what begins at an offset.
struct Term {
  std::uint32_t offset;
  float factor;
};

/// to [floats] = the sum of terms (+ to), each factor * from [offset, offset + floats), products
/// fused with their sums. Requires: floats is a multiple of vector_lanes(); no overlap.
void sum_terms(const Term* terms, std::size_t count, const float* from, float* to,
               std::size_t floats, bool add);

}  // namespace shoal::ops::cpu
