#pragma once

#include <cstddef>
#include <vector>

namespace shoal::ops::cpu {

/// Memory that is grown when needed and never cleared, aligned to a cache line.
class Room {
 public:
  /// At least `count` floats; what they hold is undefined.
  float* get(std::size_t count);
  /// What it holds, and what it takes for `count` floats.
  [[nodiscard]] std::size_t bytes() const { return memory_.capacity() * sizeof(float); }
  static constexpr std::size_t bytes_for(std::size_t count) {
    return count == 0 ? 0 : (count + kLine) * sizeof(float);
  }

 private:
  static constexpr std::size_t kLine = 16;  // floats of a cache line

  std::vector<float> memory_;
};

}  // namespace shoal::ops::cpu
