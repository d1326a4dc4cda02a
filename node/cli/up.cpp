#include <CLI/CLI.hpp>
#include <memory>

#include "comm/limits.h"
#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<UpArguments>();
  app.add_option("config", arguments->config, "TOML file of the run")->required();
  app.add_option("--peers", arguments->members,
                 "peers to start on this machine; the run waits for swarm.peers of them and others")
      ->check(CLI::Range(1, static_cast<int>(comm::limits::kMembersMax)));
  app.add_flag("--resume", arguments->resume, "go on from the newest checkpoint of the run folder");
  add_shortcut(app, cli, "--device", "device.name", "auto, cpu or cuda");
  add_shortcut(app, cli, "--run-dir", "run_dir", "folder that run folders are made in");
  return [arguments](const Cli& parsed) { return run_up(parsed, *arguments); };
}

}  // namespace

Command up_command() {
  return {"up", "start several peers on this machine and watch them train", declare};
}

}  // namespace shoal::node
