#include "node/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

namespace shoal::node {
namespace {

constexpr const char* kTemporary = ".shoal-tmp";

Error refused(const std::string& what, const std::filesystem::path& path) {
  return data_error("can't " + what + " " + path.string() + ": " +
                    std::system_category().message(errno));
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

Status write_temporary(const std::filesystem::path& path, ByteSpan bytes) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) {
    return refused("create", path);
  }
  if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0) {
    return refused("write", path);
  }
  return {};
}

}  // namespace

Status write_file(const std::filesystem::path& path, ByteSpan bytes) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return data_error("can't make the folder " + folder.string() + ": " + error.message());
  }
  // Processes of one run may write the same file at once: each has a temporary of its own.
  const std::filesystem::path temporary = path.string() + kTemporary + std::to_string(::getpid());
  Status written = write_temporary(temporary, bytes);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = refused("rename to", path);
  }
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  const Fd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) {
    ::fsync(parent.get());  // some file systems can't; the rename stands all the same
  }
  return {};
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

Result<Bytes> read_file(const std::filesystem::path& path) {
  // Not blocking: opening a pipe would wait for a writer before we see that it is one.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return refused("open", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return data_error(path.string() + " is not a file");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return refused("read", path);
    }
    at += static_cast<std::size_t>(n);
  }
  return Bytes(std::move(bytes));
}

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().find(kTemporary) != std::string::npos;
}

}  // namespace shoal::node
