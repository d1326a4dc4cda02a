#include "node/cli/registry.h"

namespace shoal::node {

const std::vector<Command>& commands() {
  static const std::vector<Command> entries = {
      up_command(),     join_command(),   invite_command(), pause_command(), resume_command(),
      keygen_command(), config_command(), plan_command(),   eval_command(),  export_command(),
      bench_command(),  doctor_command(), peer_command(),
  };
  return entries;
}

}  // namespace shoal::node
