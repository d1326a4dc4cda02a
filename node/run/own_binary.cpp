#include "node/run/own_binary.h"

#include <filesystem>

namespace shoal::node {

std::string own_binary() {
  const char* self = "/proc/self/exe";
  std::error_code error;
  const auto path = std::filesystem::read_symlink(self, error);
  return !error && std::filesystem::exists(path, error) ? path.string() : self;
}

}  // namespace shoal::node
