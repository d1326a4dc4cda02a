#include "ops/cpu/room.h"

#include <cstdint>
#include <new>

#include "ops/reference/large_pages.h"

namespace shoal::ops::cpu {
namespace {

constexpr std::size_t kLong = LargePages::kPage / 2;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes < kLong ? LargePages::kLine : LargePages::kPage};
}

}  // namespace

void* take_memory(std::size_t bytes) {
  if (bytes < kLong) {
    return ::operator new(bytes, alignment_of(bytes));
  }
  // Whole pages, so that no other memory shares the last.
  const std::size_t pages = (bytes + LargePages::kPage - 1) / LargePages::kPage * LargePages::kPage;
  void* data = ::operator new(pages, alignment_of(bytes));
  want_large_pages(data, pages);
  return data;
}

void free_memory(void* data, std::size_t bytes) { ::operator delete(data, alignment_of(bytes)); }

float* Room::get(std::size_t count) {
  if (memory_.size() < count + kLine) {
    memory_ = {};  // before there is more: both at once would be twice the memory
    memory_.resize(count + kLine);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
  return memory_.data() + (kLine - address % kLine) % kLine;
}

}  // namespace shoal::ops::cpu
