#pragma once

#include <cstddef>
#include <vector>

namespace shoal::ops::cpu {

/// Memory that is grown when needed and never cleared, aligned to a cache line.
class Room {
 public:
  /// At least `count` floats; what they hold is undefined.
  float* get(std::size_t count);

 private:
  std::vector<float> memory_;
};

}  // namespace shoal::ops::cpu
