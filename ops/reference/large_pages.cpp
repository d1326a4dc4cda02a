#include "ops/reference/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace shoal::ops {
namespace {

/// Tensors begin alike within a small page, as if each had been asked for alone. A line apart,
/// steps of small nets were slower by up to 5 %.
constexpr std::size_t kStep = 4096;
constexpr std::size_t kRegion = 32 * LargePages::kPage;
constexpr std::size_t kLeast = LargePages::kPage / 2;

constexpr std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

/// Gives the small pages that lie in here wholly back to the machine; the addresses stay ours.
void drop_pages([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_DONTNEED
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = round_up(address, page) - address;
  if (bytes > before) {
    static_cast<void>(::madvise(data + before, (bytes - before) / page * page, MADV_DONTNEED));
  }
#endif
}

}  // namespace

/// What a tensor's memory is of.
struct LargePages::Piece {
  Region* region;
  std::size_t bytes;
};

struct LargePages::Region {
  explicit Region(LargePages* owner_in, void* memory_in)
      : owner(owner_in), memory(static_cast<std::byte*>(memory_in)) {}
  ~Region() { ::operator delete (memory, std::align_val_t{kPage}); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  LargePages* owner;
  std::byte* memory;
  std::size_t used = 0;
  std::size_t tensors = 0;
};

LargePages::LargePages() = default;
LargePages::~LargePages() = default;

Storage LargePages::take(std::size_t bytes) {
  const std::size_t size = round_up(bytes, kStep);
  if (bytes < kLeast || size > kRegion) {
    return {};
  }
  if (regions_.empty() || regions_.back()->used + size > kRegion) {
    void* memory = ::operator new (kRegion, std::align_val_t{kPage}, std::nothrow);
    if (memory == nullptr) {
      return {};
    }
    want_large_pages(memory, kRegion);
    regions_.push_back(std::make_unique<Region>(this, memory));
  }
  Region& region = *regions_.back();
  std::byte* data = region.memory + region.used;
  region.used += size;
  ++region.tensors;
  return Storage(data, bytes, {&give_back, new Piece{&region, size}});
}

void LargePages::give_back(void* data, void* piece) {
  const std::unique_ptr<Piece> taken(static_cast<Piece*>(piece));
  Region& from = *taken->region;
  drop_pages(static_cast<std::byte*>(data), taken->bytes);
  if (--from.tensors > 0) {
    return;
  }
  auto& all = from.owner->regions_;
  std::erase_if(all, [&from](const auto& one) { return one.get() == &from; });
}

void want_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  static_cast<void>(::madvise(data, bytes / LargePages::kPage * LargePages::kPage, MADV_HUGEPAGE));
#endif
}

}  // namespace shoal::ops
