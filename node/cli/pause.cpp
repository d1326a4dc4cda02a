#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& cli, bool pause) {
  auto arguments = std::make_shared<PauseArguments>();
  arguments->pause = pause;
  app.add_option("run", arguments->run,
                 "run folder, or name of a run; the newest under run_dir if left out");
  add_shortcut(app, cli, "--run-dir", "run_dir", "folder that run folders lie in");
  return [arguments](const Cli& parsed) { return run_pause(parsed, *arguments); };
}

}  // namespace

Command pause_command() {
  return {"pause", "stop the computing of a run's peers on this machine, until resume",
          [](CLI::App& app, Cli& cli) { return declare(app, cli, true); }};
}

Command resume_command() {
  return {"resume", "let the paused peers of a run on this machine go on",
          [](CLI::App& app, Cli& cli) { return declare(app, cli, false); }};
}

}  // namespace shoal::node
