#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<JoinArguments>();
  app.add_option("target", arguments->target,
                 "the line that `shoal up` or `shoal invite` printed, or a TOML file")
      ->required();
  app.add_option("--config", arguments->config, "TOML file with this machine's own keys");
  app.add_flag("-y,--yes", arguments->yes, "join without asking");
  app.add_flag("--resume", arguments->resume, "go on from this peer's newest checkpoint");
  add_shortcut(app, cli, "--device", "device.name", "auto, cpu or cuda");
  add_shortcut(app, cli, "--port", "swarm.port", "port to listen on");
  add_shortcut(app, cli, "--listen", "swarm.listen", "address to listen on");
  add_shortcut(app, cli, "--run-dir", "run_dir", "folder that run folders are made in");
  return [arguments](const Cli& parsed) { return run_join(parsed, *arguments); };
}

}  // namespace

Command join_command() {
  return {"join", "take part in a run; says first what it will cost, and asks", declare};
}

}  // namespace shoal::node
