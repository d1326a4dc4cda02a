#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compress/lane.h"

namespace shoal::compress {

/// How many values a sparse codec keeps: `aim` of them, give or take what saves exact selection.
struct KeepCount {
  /// aim = density * elements, rounded up; low = 7/8 of it, high = 5/4.
  KeepCount(double density, std::size_t elements);
  std::size_t low;
  std::size_t aim;
  std::size_t high;
};

/// What was found in a granule.
struct Selection {
  std::size_t count = 0;  ///< of indices set; 0 when x is zero, or not finite
  std::uint32_t max = 0;  ///< largest |x| as bits; at least kInfBits when x holds a NaN or an Inf
};

/// Indices, ascending, of the largest |x|: between keep.low and keep.high of them, or every value
/// that is not zero if those are fewer or all are wished for. No value left out is larger than one
/// kept.
///
/// The threshold is estimated from the maxima of strided groups of the values, then corrected by
/// counting; when that does not settle (many equal values) the selection is exact. A function of x
/// alone, on every machine.
/// Requires: 1..kGranule values; indices at least as long.
Selection select_largest(std::span<const float> x, const KeepCount& keep,
                         std::span<std::uint16_t> indices);

/// As select_largest, but exactly keep.aim of them, the first of equals.
Selection select_exactly(std::span<const float> x, const KeepCount& keep,
                         std::span<std::uint16_t> indices);

/// Largest |x| as bits; at least kInfBits when x holds a NaN or an Inf.
std::uint32_t abs_max(std::span<const float> x);

}  // namespace shoal::compress
