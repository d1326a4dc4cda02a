#pragma once

#include <cstddef>
#include <vector>

#include "ops/base/rng.h"

namespace shoal::ops::tests {

/// Standard normal numbers, the same for one Rng.
template <typename T>
std::vector<T> random_vector(Rng& rng, std::size_t count) {
  std::vector<T> values(count);
  for (auto& value : values) {
    value = static_cast<T>(rng.normal());
  }
  return values;
}

}  // namespace shoal::ops::tests
