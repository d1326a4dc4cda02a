#include "node/data/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace shoal::node {
namespace {

constexpr std::size_t kRowBytesMax = std::size_t{1} << 24U;
constexpr std::size_t kFieldsMax = std::size_t{1} << 20U;
constexpr std::string_view kMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Error CsvReader::fault(const std::string& what) const {
  return data_error("line " + std::to_string(row_line_) + ": " + what);
}

/// The next byte, not taken, or kEnd.
Result<int> CsvReader::peek() {
  if (at_ == size_) {
    buffer_.resize(std::size_t{1} << 16U);
    SHOAL_ASSIGN(size_, begun_ ? source_.read_some(buffer_) : source_.read_up_to(buffer_));
    at_ = 0;
    const std::string_view text(reinterpret_cast<const char*>(buffer_.data()), size_);
    if (!begun_ && text.starts_with(kMark)) {
      at_ = kMark.size();
    }
    begun_ = true;
    if (at_ == size_) {
      return kEnd;
    }
  }
  const int c = std::to_integer<int>(buffer_[at_]);
  if (c == 0) {
    return fault("there is a NUL byte, so this is no text");
  }
  return c;
}

/// One field without quotes; whether another follows in the row.
Result<bool> CsvReader::field(std::string& out) {
  out.clear();
  for (;;) {
    SHOAL_ASSIGN(const int c, peek());
    if (c == kEnd) {
      if (!out.empty() && out.back() == '\r') {
        out.pop_back();
      }
      return false;
    }
    if (c == '"') {
      if (out.empty()) {
        return quoted(out);
      }
      return fault(R"(a quote stands inside a field without quotes; write "a ""b"" c")");
    }
    ++at_;
    if (c == static_cast<unsigned char>(separator_)) {
      return true;
    }
    if (c == '\n') {
      ++line_;
      if (!out.empty() && out.back() == '\r') {
        out.pop_back();
      }
      return false;
    }
    if (++row_bytes_ > kRowBytesMax) {
      return fault("the row is longer than 16 MiB");
    }
    out.push_back(static_cast<char>(c));
  }
}

/// The rest of a field from its quote on.
Result<bool> CsvReader::quoted(std::string& out) {
  ++at_;
  for (;;) {
    SHOAL_ASSIGN(const int c, peek());
    if (c == kEnd) {
      return fault("a quote is not closed");
    }
    ++at_;
    if (c == '"') {
      SHOAL_ASSIGN(const int after, peek());
      if (after != '"') {
        break;
      }
      ++at_;
    }
    line_ += c == '\n' ? 1 : 0;
    if (++row_bytes_ > kRowBytesMax) {
      return fault("the row is longer than 16 MiB (is a quote not closed?)");
    }
    out.push_back(static_cast<char>(c));
  }
  SHOAL_ASSIGN(int c, peek());
  if (c == '\r') {
    ++at_;
    SHOAL_ASSIGN(c, peek());
    if (c != '\n') {
      return fault("something follows a closing quote");
    }
  }
  if (c == kEnd) {
    return false;
  }
  ++at_;
  if (c == '\n') {
    ++line_;
    return false;
  }
  return c == static_cast<unsigned char>(separator_)
             ? Result<bool>(true)
             : Result<bool>(fault("something follows a closing quote"));
}

Result<bool> CsvReader::next(std::vector<std::string>& fields) {
  for (;;) {
    row_line_ = line_;
    row_bytes_ = 0;
    SHOAL_ASSIGN(const int c, peek());
    if (c == kEnd) {
      fields.clear();
      return false;
    }
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      if (count == kFieldsMax) {
        return fault("the row has more than 2^20 fields");
      }
      if (count == fields.size()) {
        fields.emplace_back();
      }
      SHOAL_ASSIGN(more, field(fields[count]));
    }
    const bool blank = count == 1 && fields[0].empty() && c != '"';
    if (!blank) {
      fields.resize(count);
      return true;
    }
  }
}

std::optional<double> parse_real(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) {
      return std::nullopt;
    }
  }
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size() ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool is_missing(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kWords = {"",     "na",   "n/a", "nan",
                                                             "null", "none", "?"};
  std::string word(trimmed(text));
  for (char& c : word) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace shoal::node
