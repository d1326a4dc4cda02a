#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/data/byte_source.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Rows of a CSV or TSV text. A field may stand in quotes, then separators and line ends are part
/// of it, and "" is a quote. Lines end in LF or CR LF; empty lines and a byte order mark are
/// skipped. Source: RFC 4180, with any one-byte separator.
class CsvReader {
 public:
  /// Requires: `source` lives longer.
  CsvReader(ByteSource& source, char separator) : source_(source), separator_(separator) {}

  /// The next row, as many fields as there are; false at the end. Errors: kData, naming the line:
  /// a quote that is not closed, or is not alone at an edge of its field; a NUL byte; a row past
  /// 2^20 fields or 2^24 bytes.
  Result<bool> next(std::vector<std::string>& fields);
  /// Where the row just read begins, from 1.
  [[nodiscard]] std::uint64_t line() const { return row_line_; }

 private:
  static constexpr int kEnd = -1;

  Result<int> peek();
  Result<bool> field(std::string& out);
  Result<bool> quoted(std::string& out);
  [[nodiscard]] Error fault(const std::string& what) const;

  ByteSource& source_;
  char separator_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  bool begun_ = false;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 0;
  std::size_t row_bytes_ = 0;
};

/// A finite number that takes the whole text, blanks around it aside, the same on every machine.
std::optional<double> parse_real(std::string_view text);

/// Whether a cell says that there is no value: empty, NA, N/A, NaN, null, none or "?", in any case.
bool is_missing(std::string_view text);

}  // namespace shoal::node
