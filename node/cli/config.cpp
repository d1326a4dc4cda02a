#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/registry.h"
#include "node/plan_check.h"

namespace shoal::node {
namespace {

struct ConfigArguments {
  std::optional<std::string> file;
  bool explain = false;
};

int run_check(const Cli& cli, const ConfigArguments& arguments) {
  const auto config = cli.load(arguments.file);
  if (!config.ok()) {
    return cli.fail(config.error());
  }
  const auto checked = check_plan(*config);
  if (!checked.ok()) {
    return cli.fail(checked.error());
  }
  cli.log().info(arguments.file.value_or("the default configuration") +
                 " is good: " + checked->sentence);
  if (cli.json) {
    const nlohmann::json out = {{"ok", true},
                                {"parameters", checked->parameters},
                                {"memory_bytes", checked->memory.main_bytes()},
                                {"run_keys_hash", config->run_keys_hash().hex()}};
    std::puts(out.dump().c_str());
  }
  return 0;
}

int run_show(const Cli& cli, const ConfigArguments& arguments) {
  const auto config = cli.load(arguments.file);
  if (!config.ok()) {
    return cli.fail(config.error());
  }
  if (cli.json) {
    std::puts(config->effective_json().c_str());
  } else if (arguments.explain) {
    for (const auto& [key, entry] : config->entries()) {
      std::puts((key + " = " + option_text(entry.value) + "\n    " + entry.help).c_str());
    }
  } else {
    std::fputs(config->effective().c_str(), stdout);
  }
  return 0;
}

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<ConfigArguments>();
  app.require_subcommand(1);
  CLI::App* check = app.add_subcommand("check", "say whether a configuration can be run");
  CLI::App* show = app.add_subcommand("show", "every key, its value, and where that comes from");
  for (CLI::App* sub : {check, show}) {
    sub->fallthrough();  // --set and --json are options of `config`
    sub->add_option("file", arguments->file, "TOML file; the defaults if left out");
  }
  show->add_flag("--explain", arguments->explain, "say of each key what it means");
  return [arguments, check](const Cli& cli) {
    return check->parsed() ? run_check(cli, *arguments) : run_show(cli, *arguments);
  };
}

}  // namespace

Command config_command() { return {"config", "check or show a configuration", declare}; }

}  // namespace shoal::node
