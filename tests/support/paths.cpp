#include "tests/support/paths.h"

namespace shoal::tests {

std::string source_path(std::string_view relative) {
  return std::string(SHOAL_SOURCE_DIR) + "/" + std::string(relative);
}

}  // namespace shoal::tests
