#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<PeerArguments>();
  app.group("");  // not for people: left out of the help
  app.add_option("--config", arguments->config, "config.toml of the run")->required();
  app.add_option("--run-folder", arguments->run_folder, "folder of the run")->required();
  app.add_option("--index", arguments->index, "which of the peers made here this is")->required();
  app.add_option("--resume-round", arguments->resume_round,
                 "round of the checkpoint to go on from");
  app.add_flag("--resume", arguments->resume, "go on from a round that the members agree on");
  app.add_flag("--invite", arguments->invites, "let others in, and say with which line");
  app.add_flag("--patient", arguments->patient, "wait for the members as long as it takes");
  return [arguments](const Cli& parsed) { return run_peer(parsed, *arguments); };
}

}  // namespace

Command peer_command() { return {"peer", "one of the peers that `shoal up` starts", declare}; }

}  // namespace shoal::node
