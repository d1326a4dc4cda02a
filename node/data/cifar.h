#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/data/byte_source.h"
#include "node/data/held.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Records of CIFAR's binary versions: label bytes, then 32 x 32 pixels of red, green and blue.
/// Source: A. Krizhevsky, https://www.cs.toronto.edu/~kriz/cifar.html: one label byte in CIFAR-10,
/// coarse then fine label in CIFAR-100.
struct CifarRecord {
  std::size_t label_bytes = 1;  ///< the last of them is the label
  std::int64_t classes = 10;
};

inline constexpr std::size_t kCifarPixels = std::size_t{3} * 32 * 32;

/// Appends the labels of a whole file. Errors: kData for a file of no or no whole records, or a
/// label past the classes.
Status read_cifar_labels(ByteSource& source, const CifarRecord& record,
                         std::vector<std::int32_t>& labels);

/// Appends the pixels of the records wanted, the first of the file being number `first`; returns
/// the number behind the last. Errors: kData.
Result<std::uint32_t> read_cifar_pixels(ByteSource& source, const CifarRecord& record,
                                        std::uint32_t first, const Held& wanted,
                                        std::vector<std::uint8_t>& pixels);

}  // namespace shoal::node
