#include "node/data/npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ops/base/check.h"

namespace shoal::node {
namespace {

constexpr std::size_t kHeaderBytesMax = std::size_t{1} << 16U;
constexpr std::uint64_t kItemBytesMax = 1ULL << 24U;
constexpr std::string_view kMagic = "\x93NUMPY";

/// A walk over the header, a Python dictionary as NumPy writes it.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  bool take(char c) {
    blanks();
    if (text_.empty() || text_.front() != c) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> quoted() {
    blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) {
      return std::nullopt;
    }
    const auto end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view word = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return word;
  }
  std::optional<bool> truth() {
    blanks();
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, std::pair{std::string_view("False"), false}}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    return std::nullopt;
  }
  std::optional<std::vector<std::int64_t>> tuple() {
    if (!take('(')) {
      return std::nullopt;
    }
    std::vector<std::int64_t> sizes;
    while (!take(')')) {
      blanks();
      std::int64_t size = 0;
      const auto end = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (end.ec != std::errc() || size < 0) {
        return std::nullopt;
      }
      text_.remove_prefix(static_cast<std::size_t>(end.ptr - text_.data()));
      sizes.push_back(size);
      if (!take(',')) {
        return take(')') ? std::optional(sizes) : std::nullopt;
      }
    }
    return sizes;
  }
  bool at_end() {
    blanks();
    return text_.empty();
  }

 private:
  void blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }
  std::string_view text_;
};

struct Dictionary {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Nothing but the three keys, each once.
std::optional<Dictionary> parse_dictionary(std::string_view text) {
  Words words(text);
  Dictionary out;
  if (!words.take('{')) {
    return std::nullopt;
  }
  while (!words.take('}')) {
    const auto key = words.quoted();
    if (!key || !words.take(':')) {
      return std::nullopt;
    }
    bool good = false;
    if (*key == "descr" && !out.descr) {
      out.descr = words.quoted();
      good = out.descr.has_value();
    } else if (*key == "fortran_order" && !out.fortran) {
      out.fortran = words.truth();
      good = out.fortran.has_value();
    } else if (*key == "shape" && !out.shape) {
      out.shape = words.tuple();
      good = out.shape.has_value();
    }
    if (!good) {
      return std::nullopt;
    }
    if (!words.take(',')) {
      if (!words.take('}')) {
        return std::nullopt;
      }
      break;
    }
  }
  const bool whole = words.at_end() && out.descr && out.fortran && out.shape;
  return whole ? std::optional(out) : std::nullopt;
}

std::optional<NpyType> type_of(std::string_view descr) {
  static constexpr std::array<std::pair<std::string_view, NpyType>, 6> kTypes = {
      {{"|u1", NpyType::kU8},
       {"<u1", NpyType::kU8},
       {"<i4", NpyType::kI32},
       {"<i8", NpyType::kI64},
       {"<f4", NpyType::kF32},
       {"<f8", NpyType::kF64}}};
  for (const auto& [name, type] : kTypes) {
    if (name == descr) {
      return type;
    }
  }
  return std::nullopt;
}

Result<std::string> read_dictionary(ByteSource& source) {
  std::array<std::byte, 8> start{};
  SHOAL_ASSIGN(const std::size_t got, source.read_up_to(start));
  if (got != start.size() || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    return data_error("is no NPY file (numpy.save writes one)");
  }
  const int major = std::to_integer<int>(start[6]);
  const int minor = std::to_integer<int>(start[7]);
  if (minor != 0 || (major != 1 && major != 2)) {
    return data_error("has NPY format " + std::to_string(major) + "." + std::to_string(minor) +
                      ", only 1.0 and 2.0 are read");
  }
  std::array<std::byte, 4> length{};
  SHOAL_TRY(source.read(std::span(length).first(major == 1 ? 2 : 4)));
  std::uint32_t bytes = 0;
  for (std::size_t i = length.size(); i-- > 0;) {
    bytes = bytes << 8U | std::to_integer<std::uint32_t>(length[i]);
  }
  if (bytes > kHeaderBytesMax) {
    return data_error("has a header of " + std::to_string(bytes) + " bytes, at most " +
                      std::to_string(kHeaderBytesMax) + " are read");
  }
  std::string text(bytes, '\0');
  SHOAL_TRY(source.read(std::as_writable_bytes(std::span(text))));
  return text;
}

template <typename T>
void convert(ByteSpan bytes, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));  // unaligned, little-endian
    out[i] = static_cast<double>(value);
  }
}

}  // namespace

Result<NpyHeader> read_npy_header(ByteSource& source) {
  SHOAL_ASSIGN(const std::string text, read_dictionary(source));
  const auto dictionary = parse_dictionary(text);
  if (!dictionary) {
    return data_error("has a header that is no dictionary of descr, fortran_order and shape");
  }
  const auto type = type_of(*dictionary->descr);
  if (!type) {
    return data_error("holds numbers of type \"" + dictionary->descr->substr(0, 20) +
                      "\"; save them as one of <f4, <f8, |u1, <i4, <i8: x.astype(\"<f4\")");
  }
  if (*dictionary->fortran) {
    return data_error("is in Fortran order; save numpy.ascontiguousarray(x)");
  }
  const auto& shape = *dictionary->shape;
  if (shape.empty() || shape.size() >= ops::Shape::kRankMax) {
    return data_error("has " + std::to_string(shape.size()) + " dimensions; 1 to " +
                      std::to_string(ops::Shape::kRankMax - 1) + " are read, samples first");
  }
  NpyHeader header;
  header.type = *type;
  std::uint64_t bytes = npy_bytes(*type);
  for (std::size_t i = 1; i < shape.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(shape[i]);
    bytes = size > kItemBytesMax ? kItemBytesMax + 1 : std::min(bytes * size, kItemBytesMax + 1);
  }
  if (shape[0] == 0 || shape[0] > std::int64_t{~0U} || bytes == 0 || bytes > kItemBytesMax) {
    return data_error("has an impossible shape in its header");
  }
  header.count = static_cast<std::uint32_t>(shape[0]);
  header.item = ops::Shape(std::span(shape).subspan(1));
  header.item_bytes = static_cast<std::size_t>(bytes);
  return header;
}

void npy_numbers(NpyType type, ByteSpan bytes, std::span<double> out) {
  SHOAL_CHECK(bytes.size() == out.size() * npy_bytes(type), "an item has its size");
  switch (type) {
    case NpyType::kU8:
      return convert<std::uint8_t>(bytes, out);
    case NpyType::kI32:
      return convert<std::int32_t>(bytes, out);
    case NpyType::kI64:
      return convert<std::int64_t>(bytes, out);
    case NpyType::kF32:
      return convert<float>(bytes, out);
    case NpyType::kF64:
      return convert<double>(bytes, out);
  }
}

}  // namespace shoal::node
