#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/registry.h"
#include "node/plan_check.h"
#include "node/units.h"

namespace shoal::node {
namespace {

struct PlanArguments {
  std::optional<std::string> file;
  bool memory = false;
};

const char* place_of(const MemoryTable& table, const MemoryTable::Row& row) {
  return row.on_device && table.device == ops::DeviceKind::kCuda ? "gpu" : "main memory";
}

void print_table(const PlanCheck& plan) {
  const MemoryTable& table = plan.memory;
  const auto line = [](const char* place, const std::string& what, std::uint64_t bytes) {
    std::printf("  %-12s %-31s %10s\n", place, what.c_str(),
                bytes_text(static_cast<double>(bytes)).c_str());
  };
  for (const auto& row : table.rows()) {
    line(place_of(table, row), row.what, row.bytes);
  }
  if (table.device_bytes() > 0) {
    line("gpu", "in all", table.device_bytes());
  }
  line("main memory", "in all", table.main_bytes());
  std::printf("  passes of at most %zu samples", table.pass.micro_batch);
  for (std::size_t i = 0; i < plan.recompute.size(); ++i) {
    std::printf("%s%s", i == 0 ? "; computed again: " : ", ", plan.recompute[i].c_str());
  }
  std::printf("\n");
}

void print_json(const PlanCheck& plan) {
  const MemoryTable& table = plan.memory;
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : table.rows()) {
    rows.push_back({{"place", place_of(table, row)}, {"what", row.what}, {"bytes", row.bytes}});
  }
  const nlohmann::json out = {{"device", table.device == ops::DeviceKind::kCuda ? "cuda" : "cpu"},
                              {"parameters", plan.parameters},
                              {"micro_batch", table.pass.micro_batch},
                              {"recompute", plan.recompute},
                              {"rows", rows},
                              {"device_bytes", table.device_bytes()},
                              {"main_bytes", table.main_bytes()}};
  std::puts(out.dump(2).c_str());
}

int run_plan(const Cli& cli, const PlanArguments& arguments) {
  if (!arguments.memory) {
    return cli.fail(config_error(
        "this version does not place layers on peers: each peer trains the whole model. What that "
        "takes of a machine is said by shoal plan CONFIG --memory"));
  }
  const auto config = cli.load(arguments.file);
  if (!config.ok()) {
    return cli.fail(config.error());
  }
  const auto plan = check_plan(*config);
  if (!plan.ok()) {
    return cli.fail(plan.error());
  }
  if (cli.json) {
    print_json(*plan);
  } else {
    cli.log().info("one peer of \"" + config->get_string("name") + "\": " + plan->sentence);
    print_table(*plan);
  }
  return 0;
}

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<PlanArguments>();
  app.add_option("config", arguments->file, "TOML file of the run; the defaults if left out");
  app.add_flag("--memory", arguments->memory,
               "bytes that a peer will take, device by device, before anything is allocated");
  return [arguments](const Cli& cli) { return run_plan(cli, *arguments); };
}

}  // namespace

Command plan_command() { return {"plan", "what a run will take of a machine", declare}; }

}  // namespace shoal::node
