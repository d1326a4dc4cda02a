#pragma once

#include <cstddef>
#include <vector>

namespace shoal::ops::cpu {

/// Memory aligned to a cache line, of large pages where it is long.
void* take_memory(std::size_t bytes);
void free_memory(void* data, std::size_t bytes);

/// Takes what is long from the machine's large pages, as LargePages does for tensors: a product
/// streams through a laid out matrix time and again.
template <typename T>
struct LargePageAllocator {
  using value_type = T;

  LargePageAllocator() = default;
  template <typename U>
  explicit LargePageAllocator(const LargePageAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) { return static_cast<T*>(take_memory(count * sizeof(T))); }
  void deallocate(T* data, std::size_t count) { free_memory(data, count * sizeof(T)); }
  friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
};
using Floats = std::vector<float, LargePageAllocator<float>>;

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

  Floats memory_;
};

}  // namespace shoal::ops::cpu
