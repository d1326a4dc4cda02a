#include "ops/cpu/room.h"

#include <cstdint>

namespace shoal::ops::cpu {

float* Room::get(std::size_t count) {
  if (memory_.size() < count + kLine) {
    memory_ = {};  // before there is more: both at once would be twice the memory
    memory_.resize(count + kLine);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
  return memory_.data() + (kLine - address % kLine) % kLine;
}

}  // namespace shoal::ops::cpu
