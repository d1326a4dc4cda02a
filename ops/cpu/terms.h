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

/// Terms of rows one after the other: row r's end at ends[r], where the next one's begin.
struct TermRows {
  const Term* terms;
  const std::size_t* ends;
  std::size_t begin;  ///< of the first row's terms
  std::size_t count;
};

/// sum_terms for each row of `to`.
void sum_rows(const TermRows& rows, const float* from, float* to, std::size_t to_stride,
              std::size_t floats, bool add);

/// Writes those of `values` that are not 0 as terms, value i with the offset i * step, and gives
/// their number. Requires: room for count + kTermSlack terms.
std::size_t gather_terms(const float* values, std::size_t count, std::uint32_t step, Term* to);
constexpr std::size_t kTermSlack = 32;

}  // namespace shoal::ops::cpu
