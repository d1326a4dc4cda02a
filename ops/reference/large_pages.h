#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ops/tensor.h"

namespace shoal::ops {

/// Memory of tensors in the machine's large pages, one tensor behind the other: a pass streams
/// through more memory than small pages can be remembered of, and each that is not costs a walk
/// through their table. Most tensors are smaller than a large page, so several share one. What is
/// given back returns to the machine at once, its addresses with the last of its region.
/// Threads: one at a time.
class LargePages {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kPage = std::size_t{2} << 20U;

  LargePages();
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;
  ~LargePages();

  /// Memory of any contents, aligned to a small page; none for what gains nothing by it, being less
  /// than half a large page or very large, and where the machine has none.
  Storage take(std::size_t bytes);

 private:
  struct Piece;
  struct Region;

  static void give_back(void* data, void* piece);

  std::vector<std::unique_ptr<Region>> regions_;
};

/// Asks that the whole large pages of this memory be such; whether there are any is the machine's
/// business. Requires: `data` begins on one.
void want_large_pages(void* data, std::size_t bytes);

}  // namespace shoal::ops
