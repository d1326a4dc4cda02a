#include "node/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace shoal::node {
namespace {

constexpr std::uint64_t kItemBytesMax = 1ULL << 28U;

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(gzFile file) : file_(file) {}
  ~GzipSource() override { gzclose_r(file_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Status read(std::span<std::byte> out) override {
    while (!out.empty()) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(out.size(), 1U << 20U));
      const int got = gzread(file_, out.data(), piece);
      if (got <= 0) {
        return damaged(got);
      }
      out = out.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }

  Status expect_end() override {
    std::byte more{};
    const int got = gzread(file_, &more, 1);
    if (got > 0) {
      return data_error("holds more than its header says");
    }
    int error = Z_OK;
    gzerror(file_, &error);
    return got < 0 || (error != Z_OK && error != Z_STREAM_END) ? damaged(got) : Status{};
  }

 private:
  Error damaged(int got) {
    int error = Z_OK;
    gzerror(file_, &error);
    if (got == 0 || error == Z_BUF_ERROR) {
      return data_error("ends early");
    }
    return data_error("is damaged (its gzip stream does not decode)");
  }

  gzFile file_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteSpan bytes) : reader_(bytes) {}

  Status read(std::span<std::byte> out) override {
    ByteSpan bytes;
    if (!reader_.get_bytes(out.size(), bytes)) {
      return data_error("ends early");
    }
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {};
  }
  Status expect_end() override {
    return reader_.left() == 0 ? Status{} : data_error("holds more than its header says");
  }

 private:
  ByteReader reader_;
};

Result<std::uint32_t> read_big_endian(ByteSource& source) {
  std::array<std::byte, 4> bytes{};
  SHOAL_TRY(source.read(bytes));
  std::uint32_t value = 0;
  for (const std::byte b : bytes) {
    value = value << 8U | std::to_integer<std::uint32_t>(b);
  }
  return value;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return data_error(path + (errno == ENOENT ? " is missing" : " can't be opened"));
  }
  auto source = std::make_unique<GzipSource>(file);
  // zlib hands the bytes of any other file through as they are; what we expect is compressed.
  if (gzdirect(file) != 0) {
    return data_error(path + " is no gzip file");
  }
  return std::unique_ptr<ByteSource>(std::move(source));
}

std::unique_ptr<ByteSource> memory_source(ByteSpan bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<IdxHeader> read_idx_header(ByteSource& source, std::uint32_t rank) {
  SHOAL_ASSIGN(const std::uint32_t magic, read_big_endian(source));
  if (magic != (0x0800U | rank)) {
    return data_error("is no IDX file of bytes with " + std::to_string(rank) +
                      (rank == 1 ? " dimension" : " dimensions"));
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
  SHOAL_ASSIGN(const IdxHeader header, read_idx_header(source, 1));
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
                                                 const std::vector<bool>& wanted) {
  const auto item_bytes = static_cast<std::size_t>(header.item_bytes);
  std::vector<std::uint8_t> items;
  std::vector<std::byte> item(item_bytes);
  items.reserve(item_bytes *
                static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true)));
  for (std::uint32_t i = 0; i < header.count; ++i) {
    SHOAL_TRY(source.read(item));
    if (wanted[i]) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(item.data());
      items.insert(items.end(), bytes, bytes + item_bytes);
    }
  }
  SHOAL_TRY(source.expect_end());
  return items;
}

}  // namespace shoal::node
