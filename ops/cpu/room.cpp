#include "ops/cpu/room.h"

#include <cstdint>

namespace shoal::ops::cpu {

float* Room::get(std::size_t count) {
  constexpr std::size_t kLine = 16;  // floats of a cache line
  if (memory_.size() < count + kLine) {
    memory_.resize(count + kLine);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
  return memory_.data() + (kLine - address % kLine) % kLine;
}

}  // namespace shoal::ops::cpu
