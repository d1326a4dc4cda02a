#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Bytes in order, from somewhere; what the reader of a format sees of a file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out`. Errors: kData when it ends early or is damaged, without a name.
  [[nodiscard]] virtual Status read(std::span<std::byte> out) = 0;
  /// Errors: kData when there is more, or a checksum at the end is wrong.
  [[nodiscard]] virtual Status expect_end() = 0;
};

/// A gzip file. The one file that knows zlib. Errors: kData, naming the path.
Result<std::unique_ptr<ByteSource>> open_gzip(const std::string& path);

/// Bytes in memory, for tests and fuzzers.
std::unique_ptr<ByteSource> memory_source(ByteSpan bytes);

/// The head of an IDX file of unsigned bytes: `count` items of `item_bytes` bytes each.
/// Source: the format description at the end of Y. LeCun's MNIST page: two zero bytes, type 0x08,
/// rank, then that many big-endian 32-bit sizes.
struct IdxHeader {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> item_shape;
  std::uint64_t item_bytes = 1;
};

/// Errors: kData for another format, another rank, a size of 0, or items past 2^28 bytes in all;
/// so what follows may be allocated.
Result<IdxHeader> read_idx_header(ByteSource& source, std::uint32_t rank);

/// Labels of a whole IDX file of rank 1. Errors: kData, also for a label past `classes`.
Result<std::vector<std::int32_t>> read_idx_labels(ByteSource& source, std::int64_t classes);

/// Reads past the header and keeps the items whose bit is set in `wanted` (as long as
/// header.count), packed in order. Errors: kData.
Result<std::vector<std::uint8_t>> read_idx_items(ByteSource& source, const IdxHeader& header,
                                                 const std::vector<bool>& wanted);

}  // namespace shoal::node
