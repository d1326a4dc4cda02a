#include "node/data/held.h"

namespace shoal::node {

Result<Held> Held::make(std::span<const std::uint32_t> indices, std::uint32_t size,
                        const std::string& of) {
  Held held;
  held.slots_.assign(size, kNone);
  for (const std::uint32_t index : indices) {
    if (index >= size) {
      return data_error(of + " has no sample " + std::to_string(index) + ", only " +
                        std::to_string(size) + " from 0");
    }
    held.slots_[index] = 0;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& slot : held.slots_) {
    slot = slot == kNone ? kNone : next++;
  }
  held.count_ = next;
  return held;
}

Status Held::check(std::span<const std::uint32_t> indices, const std::string& of) const {
  for (const std::uint32_t index : indices) {
    if (!has(index)) {
      return data_error("sample " + std::to_string(index) + " of " + of +
                        " is not held by this peer");
    }
  }
  return {};
}

}  // namespace shoal::node
