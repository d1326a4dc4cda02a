#pragma once

#include <cstddef>

/// Marks what runs on the host and on a CUDA device. Everything in kernels/ is C++17 for nvcc.
#if defined(__CUDACC__)
#define SHOAL_HD __host__ __device__
#else
#define SHOAL_HD
#endif

namespace shoal::ops::kernels {

/// Runs a body for each index, in order: the host's launch.
template <typename Body>
void for_each_index(std::size_t count, const Body& body) {
  for (std::size_t i = 0; i < count; ++i) {
    body(i);
  }
}

}  // namespace shoal::ops::kernels
