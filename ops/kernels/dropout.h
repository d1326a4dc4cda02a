#pragma once

#include <cstddef>

#include "ops/base/philox.h"
#include "ops/kernels/hd.h"

namespace shoal::ops::kernels {

/// Four elements of y = x with some left out: an element is dropped when its random word is below
/// `threshold` (of 2^32). Element i takes word i of the sequence (seed, stream).
template <typename T>
struct DropoutBlock {
  const T* x;
  T* y;
  std::size_t count;
  std::uint64_t seed;
  std::uint64_t stream;
  std::uint32_t threshold;
  T scale;
  SHOAL_HD void operator()(std::size_t block) const {
    const Words words = random_block(seed, stream, block);
    for (std::size_t j = 0; j < 4 && block * 4 + j < count; ++j) {
      const std::size_t i = block * 4 + j;
      y[i] = words.word[j] < threshold ? T(0) : x[i] * scale;
    }
  }
};

/// The threshold for a share in [0, 1).
inline std::uint32_t dropout_threshold(double drop) {
  return static_cast<std::uint32_t>(drop * 4294967296.0);
}

}  // namespace shoal::ops::kernels
