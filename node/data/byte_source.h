#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/bytes.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Bytes in order, from somewhere; what the reader of a format sees of a file. Errors are kData
/// and name no file: whoever opened it does, by `about_file`.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads at most out.size() bytes and says how many; 0 at the end. Requires: out not empty.
  /// Errors: kData when what is read is damaged or ends early.
  [[nodiscard]] virtual Result<std::size_t> read_some(std::span<std::byte> out) = 0;

  /// Fills `out`. Errors: kData, also when the end comes before.
  [[nodiscard]] Status read(std::span<std::byte> out);
  /// Fills `out` or reads as much as there is, and says how much. Errors: kData.
  [[nodiscard]] Result<std::size_t> read_up_to(std::span<std::byte> out);
  /// Errors: kData when there is more, or a checksum at the end is wrong.
  [[nodiscard]] Status expect_end();
};

/// A file, unpacked when it is a gzip file. One named .gz must be. The one file that knows zlib.
/// Errors: kData, naming the path.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// Bytes in memory, for tests and fuzzers.
std::unique_ptr<ByteSource> memory_source(ByteSpan bytes);

/// All that is left. Errors: kData, also past `bytes_max`.
Result<std::string> read_text(ByteSource& source, std::size_t bytes_max);

/// An error of reading a file, named after it (once) and with a remedy behind it.
Error about_file(const std::string& path, const Error& error, std::string_view remedy);

}  // namespace shoal::node
