#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/data/byte_source.h"
#include "ops/base/result.h"
#include "ops/tensor.h"

namespace shoal::node {

enum class NpyType : std::uint8_t { kU8, kI32, kI64, kF32, kF64 };

constexpr std::size_t npy_bytes(NpyType type) {
  return type == NpyType::kU8 ? 1 : (type == NpyType::kI32 || type == NpyType::kF32 ? 4 : 8);
}
constexpr bool npy_whole(NpyType type) { return type <= NpyType::kI64; }

/// The head of an array in NumPy's file format.
struct NpyHeader {
  NpyType type = NpyType::kF32;
  std::uint32_t count = 0;  ///< the first dimension
  ops::Shape item;          ///< the others
  std::size_t item_bytes = 0;
};

/// Formats 1.0 and 2.0, little-endian f4, f8, u1, i4, i8, row-major, at least one dimension, items
/// of at most 2^24 bytes. Errors: kData with how to write what was expected.
/// Source: numpy.lib.format's description of the NPY format.
Result<NpyHeader> read_npy_header(ByteSource& source);

/// The numbers of one item as double, in which u1, i4, f4 and f8 are exact. Shapes: bytes
/// [header.item_bytes], out [item elements].
void npy_numbers(NpyType type, ByteSpan bytes, std::span<double> out);

}  // namespace shoal::node
