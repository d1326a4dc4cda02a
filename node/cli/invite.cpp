#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<InviteArguments>();
  app.add_option("run", arguments->run,
                 "run folder, or name of a run, of a peer of this machine; the newest if left out");
  add_shortcut(app, cli, "--run-dir", "run_dir", "folder that run folders lie in");
  return [arguments](const Cli& parsed) { return run_invite(parsed, *arguments); };
}

}  // namespace

Command invite_command() {
  return {"invite", "print the line with which others join a run", declare};
}

}  // namespace shoal::node
