// Any bytes as the inside of an IDX file, labels and items.
#include <cstdint>
#include <cstdlib>

#include "node/data/idx.h"
#include "ops/base/check.h"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  const auto labels = node::read_idx_labels(*node::memory_source(bytes), 10);
  if (labels.ok()) {
    SHOAL_CHECK(labels->size() + 8 == size, "labels are all of the file");
    for (const auto label : *labels) {
      SHOAL_CHECK(label >= 0 && label < 10, "a label is a class");
    }
  }
  const auto source = node::memory_source(bytes);
  const auto header = node::read_idx_header(*source, 2, 4);
  // A lawful header may promise 2^30 bytes; only what could be there is asked for.
  if (header.ok() && header->count <= size && header->item_bytes <= size) {
    const std::vector<std::uint32_t> first = {0};
    const auto wanted = node::Held::make(first, header->count, "fuzz");
    const auto items = node::read_idx_items(*source, *header, *wanted);
    SHOAL_CHECK(!items.ok() || items->size() == header->item_bytes, "one item was wanted");
  }
  return 0;
}
