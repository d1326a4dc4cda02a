#include "node/data/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace shoal::node {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(gzFile file) : file_(file) {}
  ~FileSource() override { gzclose_r(file_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read_some(std::span<std::byte> out) override {
    const auto piece = static_cast<unsigned>(std::min<std::size_t>(out.size(), 1U << 20U));
    const int got = gzread(file_, out.data(), piece);
    if (got > 0) {
      return static_cast<std::size_t>(got);
    }
    int error = Z_OK;
    const char* message = gzerror(file_, &error);
    if (error == Z_BUF_ERROR) {
      return data_error("ends early");
    }
    if (error == Z_ERRNO) {
      return data_error(std::string("can't be read: ") + message);
    }
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END)) {
      return data_error("is damaged (its gzip stream does not decode)");
    }
    return std::size_t{0};
  }

 private:
  gzFile file_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteSpan bytes) : left_(bytes) {}

  Result<std::size_t> read_some(std::span<std::byte> out) override {
    const ByteSpan part = left_.first(std::min(left_.size(), out.size()));
    std::copy(part.begin(), part.end(), out.begin());
    left_ = left_.subspan(part.size());
    return part.size();
  }

 private:
  ByteSpan left_;
};

}  // namespace

Result<std::size_t> ByteSource::read_up_to(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    SHOAL_ASSIGN(const std::size_t got, read_some(out.subspan(done)));
    if (got == 0) {
      break;
    }
    done += got;
  }
  return done;
}

Status ByteSource::read(std::span<std::byte> out) {
  SHOAL_ASSIGN(const std::size_t got, read_up_to(out));
  return got == out.size() ? Status{} : data_error("ends early");
}

Status ByteSource::expect_end() {
  std::byte more{};
  SHOAL_ASSIGN(const std::size_t got, read_some({&more, 1}));
  return got == 0 ? Status{} : data_error("holds more than its header says");
}

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return data_error(path + " is a folder, not a file");
  }
  if (std::filesystem::is_fifo(path, ignored)) {  // opening it would wait for a writer
    return data_error(path + " is a pipe, not a file");
  }
  errno = 0;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return data_error(path + (errno == ENOENT ? " is missing" : " can't be opened"));
  }
  auto source = std::make_unique<FileSource>(file);
  // zlib hands the bytes of any other file through as they are, which a name may rule out.
  if (path.ends_with(".gz") && gzdirect(file) != 0) {
    return data_error(path + " is no gzip file");
  }
  return std::unique_ptr<ByteSource>(std::move(source));
}

std::unique_ptr<ByteSource> memory_source(ByteSpan bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<std::string> read_text(ByteSource& source, std::size_t bytes_max) {
  std::string text;
  std::vector<std::byte> piece(1U << 16U);
  for (;;) {
    SHOAL_ASSIGN(const std::size_t got, source.read_some(piece));
    if (got == 0) {
      return text;
    }
    if (got > bytes_max - text.size()) {
      return data_error("holds more than " + std::to_string(bytes_max) + " bytes");
    }
    text.append(reinterpret_cast<const char*>(piece.data()), got);
  }
}

Error about_file(const std::string& path, const Error& error, std::string_view remedy) {
  const bool named = error.message.starts_with(path);
  return {error.code, (named ? "" : path + " ") + error.message + std::string(remedy), error.peer};
}

}  // namespace shoal::node
