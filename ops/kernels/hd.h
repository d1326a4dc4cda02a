#pragma once

#include <cstddef>

#include "ops/base/hd.h"  // IWYU pragma: export

namespace shoal::ops::kernels {

/// Runs a body for each index, in order: the host's launch.
template <typename Body>
void for_each_index(std::size_t count, const Body& body) {
  for (std::size_t i = 0; i < count; ++i) {
    body(i);
  }
}

}  // namespace shoal::ops::kernels
