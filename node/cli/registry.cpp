#include "node/cli/registry.h"

namespace shoal::node {

const std::vector<Command>& commands() {
  static const std::vector<Command> entries = {
      keygen_command(),
      config_command(),
      bench_command(),
      doctor_command(),
  };
  return entries;
}

}  // namespace shoal::node
