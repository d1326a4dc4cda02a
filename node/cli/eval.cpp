#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& cli) {
  auto arguments = std::make_shared<EvalArguments>();
  app.add_option("model", arguments->model, "run folder, name of a run, or a model.safetensors")
      ->required();
  app.add_option("--config", arguments->config,
                 "TOML file of the run; the config.toml of its folder if left out");
  add_shortcut(app, cli, "--device", "device.name", "auto, cpu or cuda");
  return [arguments](const Cli& parsed) { return run_eval(parsed, *arguments); };
}

}  // namespace

Command eval_command() {
  return {"eval", "loss and accuracy of a model on the test data", declare};
}

}  // namespace shoal::node
