#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "comm/fd.h"
#include "comm/identity.h"

namespace shoal::comm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTag = "shoal-identity-1 ";
constexpr std::size_t kFileBytes = kTag.size() + 64 + 1;  // tag, seed in hex, newline

Error failed(const fs::path& path, const char* what) {
  return config_error("identity file " + path.string() + ": " + what + ": " + std::strerror(errno));
}

/// Nothing when there is no such file.
Result<std::optional<Identity>> load(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    if (errno == ENOENT) {
      return std::optional<Identity>();
    }
    return failed(path, "cannot be read");
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return failed(path, "cannot be examined");
  }
  if ((info.st_mode & 077U) != 0) {
    return config_error("identity file " + path.string() +
                        " can be read by others, so its key may be known; run: chmod 600 " +
                        path.string() + " (or delete it to become a new peer)");
  }
  std::array<char, kFileBytes + 1> text{};
  const auto got = ::read(file.get(), text.data(), text.size());
  const std::string_view view(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  Seed seed;
  if (view.size() != kFileBytes || !view.starts_with(kTag) || view.back() != '\n' ||
      !from_hex(view.substr(kTag.size(), 64), seed)) {
    return config_error("identity file " + path.string() +
                        " is damaged; restore it, or delete it to become a new peer");
  }
  return std::optional(Identity::from_seed(seed));
}

/// Writes beside, then links into place: whoever comes first wins, and a crash leaves no half file.
Status create(const fs::path& path, const Identity& identity) {
  const fs::path beside = path.string() + ".new-" + std::to_string(random_u64());
  {
    const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid()) {
      return failed(path, "cannot be created");
    }
    const std::string text = std::string(kTag) + to_hex(identity.seed()) + '\n';
    const auto wrote = ::write(file.get(), text.data(), text.size());
    if (wrote != static_cast<ssize_t>(text.size()) || ::fsync(file.get()) != 0) {
      const Error error = failed(path, "cannot be written");
      ::unlink(beside.c_str());
      return error;
    }
  }
  const bool linked = ::link(beside.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const Error error = failed(path, "cannot be put in place");
  ::unlink(beside.c_str());
  return linked ? Status() : Status(error);
}

}  // namespace

Result<Identity> Identity::load_or_create(const fs::path& folder) {
  const fs::path path = folder / "identity.key";
  SHOAL_ASSIGN(std::optional<Identity> found, load(path));
  if (found) {
    return *found;
  }
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    return config_error("folder for keys " + folder.string() + " cannot be made: " +
                        code.message() + "; set SHOAL_HOME to a folder of yours");
  }
  SHOAL_TRY(create(path, generate()));
  // Read back, since another process may have been first.
  SHOAL_ASSIGN(found, load(path));
  if (!found) {
    return config_error("identity file " + path.string() + " vanished while it was made");
  }
  return *found;
}

}  // namespace shoal::comm
