#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::ops {

/// The safetensors format: u64 length of a JSON header, the header, raw little-endian tensors.
/// Source: huggingface/safetensors, README "Format". We write F32, I64 and U8; tensors of other
/// dtypes are listed with their bytes.
namespace safetensors {

inline constexpr std::size_t kHeaderBytesMax = std::size_t{16} << 20U;
inline constexpr std::size_t kRankMax = 8;

/// One named tensor of a file; `data` borrows the file's bytes.
struct Tensor {
  std::string dtype;  ///< "F32", "F64", "I64", "U8", ...
  std::vector<std::int64_t> shape;
  ByteSpan data;

  [[nodiscard]] std::size_t elements() const;
};

/// A file's contents: borrows `bytes` given to parse().
struct File {
  std::map<std::string, Tensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;

  /// Copies one F32 tensor out, or a counter: I64, which becomes float, where PyTorch's scalar
  /// passes for one element. Errors: kData when it is missing, of another dtype or shape (an empty
  /// `shape` means: any of that many elements).
  [[nodiscard]] Status read_f32(std::string_view name, std::span<const std::int64_t> shape,
                                std::span<float> out) const;
};

/// Reads a whole file. Errors: kData, saying what is wrong: too short, header too large, no JSON,
/// a tensor out of bounds, overlapping, leaving a hole, or of a size that its shape denies.
/// Safe on hostile bytes.
Result<File> parse(ByteSpan bytes);

/// Gathers tensors and writes them in an order of their own (wide items first, then by name), so
/// that equal contents are equal bytes.
class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Borrows `data` until write(). Requires: a name used once, data of the shape's size (checked).
  void add(std::string name, std::vector<std::int64_t> shape, std::span<const float> data);
  void add_counter(std::string name, std::int64_t value);  ///< dtype I64, a scalar
  void add_bytes(std::string name, ByteSpan data);         ///< dtype U8, shape [size]
  void set_metadata(std::string key, std::string value);
  /// Appends the file. Data starts at a multiple of 8 from where the file starts.
  void write(ByteWriter& out) const;

 private:
  void add_tensor(std::string name, Tensor tensor);

  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
  std::list<std::int64_t> counters_;  // which tensors borrow
};

}  // namespace safetensors
}  // namespace shoal::ops
