#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<ExportArguments>();
  app.add_option("model", arguments->model, "run folder, name of a run, or a model.safetensors")
      ->required();
  app.add_option("--config", arguments->config,
                 "TOML file of the run; the config.toml of its folder if left out");
  app.add_option(
         "--format", arguments->format,
         "safetensors (PyTorch's names) or onnx; what the file's name ends with if left out")
      ->check(CLI::IsMember({"safetensors", "onnx"}));
  app.add_option("-o,--out", arguments->out, "file to write")->required();
  return [arguments](const Cli& parsed) { return run_export(parsed, *arguments); };
}

}  // namespace

Command export_command() {
  return {"export", "a model as a file that PyTorch or onnxruntime takes", declare};
}

}  // namespace shoal::node
