#pragma once

#include <cstdint>
#include <vector>

#include "node/data/byte_source.h"
#include "node/data/held.h"
#include "ops/base/result.h"

namespace shoal::node {

/// The head of an IDX file of unsigned bytes: `count` items of `item_bytes` bytes each.
/// Source: the format description at the end of Y. LeCun's MNIST page: two zero bytes, type 0x08,
/// rank, then that many big-endian 32-bit sizes.
struct IdxHeader {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> item_shape;
  std::uint64_t item_bytes = 1;
};

/// Errors: kData for another format, a rank outside [rank_min, rank_max], a size of 0, or items
/// past 2^30 bytes in all; so what follows may be allocated.
Result<IdxHeader> read_idx_header(ByteSource& source, std::uint32_t rank_min,
                                  std::uint32_t rank_max);

/// Labels of a whole IDX file of rank 1. Errors: kData, also for a label past `classes`.
Result<std::vector<std::int32_t>> read_idx_labels(ByteSource& source, std::int64_t classes);

/// Reads past the header and keeps the items wanted, packed in order. Errors: kData.
Result<std::vector<std::uint8_t>> read_idx_items(ByteSource& source, const IdxHeader& header,
                                                 const Held& wanted);

}  // namespace shoal::node
