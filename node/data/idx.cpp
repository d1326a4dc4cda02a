#include "node/data/idx.h"

#include <algorithm>
#include <array>
#include <string>

namespace shoal::node {
namespace {

constexpr std::uint64_t kItemBytesMax = 1ULL << 30U;
constexpr std::size_t kPieceBytes = std::size_t{1} << 16U;
constexpr std::size_t kReserveBytesMax = std::size_t{1} << 26U;  // Fashion-MNIST takes 47 MB

Result<std::uint32_t> read_big_endian(ByteSource& source) {
  std::array<std::byte, 4> bytes{};
  SHOAL_TRY(source.read(bytes));
  std::uint32_t value = 0;
  for (const std::byte b : bytes) {
    value = value << 8U | std::to_integer<std::uint32_t>(b);
  }
  return value;
}

std::string rank_words(std::uint32_t rank_min, std::uint32_t rank_max) {
  if (rank_min == rank_max) {
    return std::to_string(rank_min) + (rank_min == 1 ? " dimension" : " dimensions");
  }
  return std::to_string(rank_min) + " to " + std::to_string(rank_max) + " dimensions";
}

}  // namespace

Result<IdxHeader> read_idx_header(ByteSource& source, std::uint32_t rank_min,
                                  std::uint32_t rank_max) {
  SHOAL_ASSIGN(const std::uint32_t magic, read_big_endian(source));
  const std::uint32_t rank = magic & 0xFFU;
  if (magic >> 8U != 0x08U || rank < rank_min || rank > rank_max) {
    return data_error("is no IDX file of bytes with " + rank_words(rank_min, rank_max));
  }
  IdxHeader header;
  SHOAL_ASSIGN(header.count, read_big_endian(source));
  for (std::uint32_t i = 1; i < rank; ++i) {
    SHOAL_ASSIGN(const std::uint32_t size, read_big_endian(source));
    header.item_shape.push_back(size);
    header.item_bytes = std::min(header.item_bytes * size, kItemBytesMax + 1);
  }
  if (header.count == 0 || header.item_bytes == 0 ||
      header.item_bytes > kItemBytesMax / header.count) {
    return data_error("has an impossible size in its header");
  }
  return header;
}

Result<std::vector<std::int32_t>> read_idx_labels(ByteSource& source, std::int64_t classes) {
  SHOAL_ASSIGN(const IdxHeader header, read_idx_header(source, 1, 1));
  std::vector<std::int32_t> labels;
  std::array<std::byte, 4096> piece{};
  while (labels.size() < header.count) {  // grows with what is really there
    const auto part = std::span(piece).first(std::min(piece.size(), header.count - labels.size()));
    SHOAL_TRY(source.read(part));
    for (const std::byte b : part) {
      const auto label = std::to_integer<std::int32_t>(b);
      if (label >= classes) {
        return data_error("has label " + std::to_string(label) + " at item " +
                          std::to_string(labels.size()) + ", but there are " +
                          std::to_string(classes) + " classes");
      }
      labels.push_back(label);
    }
  }
  SHOAL_TRY(source.expect_end());
  return labels;
}

Result<std::vector<std::uint8_t>> read_idx_items(ByteSource& source, const IdxHeader& header,
                                                 const Held& wanted) {
  const auto item_bytes = static_cast<std::size_t>(header.item_bytes);
  std::vector<std::uint8_t> items;
  std::vector<std::byte> piece(std::min(item_bytes, kPieceBytes));
  // A header may promise more than there is: beyond this, memory grows with what is read.
  items.reserve(std::min(item_bytes * wanted.count(), kReserveBytesMax));
  for (std::uint32_t i = 0; i < header.count; ++i) {
    for (std::size_t left = item_bytes; left > 0;) {
      const auto part = std::span(piece).first(std::min(left, piece.size()));
      SHOAL_TRY(source.read(part));
      if (wanted.has(i)) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(part.data());
        items.insert(items.end(), bytes, bytes + part.size());
      }
      left -= part.size();
    }
  }
  SHOAL_TRY(source.expect_end());
  return items;
}

}  // namespace shoal::node
