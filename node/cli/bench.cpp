#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/arguments.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<BenchArguments>();
  app.add_option("what", arguments->what, "codec")->required()->check(CLI::IsMember({"codec"}));
  app.add_option("names", arguments->names, "which ones; all if left out");
  app.add_option("--elements", arguments->elements, "floats of one array; several sizes if 0");
  return [arguments](const Cli& parsed) { return run_bench(parsed, *arguments); };
}

}  // namespace

Command bench_command() { return {"bench", "speed of parts of shoal on this machine", declare}; }

}  // namespace shoal::node
