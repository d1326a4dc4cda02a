#include "node/cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

namespace shoal::node {
namespace {

constexpr const char* kVersion = "shoal 0.1.0";
constexpr const char* kFooter =
    "Configuration: --set beats SHOAL_TABLE_KEY in the environment, which beats the file.\n"
    "Exit codes: 0 done, 2 usage or configuration, 3 data, 4 network or peers, 5 device or\n"
    "memory, 1 anything else. People read stderr; stdout is for programs (--json).";

/// The program's own options, and a sub-command for each command.
class Parser {
 public:
  Parser(Cli& cli, const std::vector<Command>& commands) : cli_(cli) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", kVersion);
    app_.footer(kFooter);
    for (const auto& command : commands) {
      add(command);
    }
  }

  /// Errors: kConfig. Nothing to run after --help and --version, which have said their text.
  Result<std::optional<Runner>> parse(std::vector<std::string> words) {
    SHOAL_TRY(check_command(words));
    std::reverse(words.begin(), words.end());  // as CLI11 takes a vector
    try {
      app_.parse(words);
    } catch (const CLI::Success& asked) {  // --help, --version
      app_.exit(asked);
      return std::optional<Runner>();
    } catch (const CLI::RequiredError& error) {
      return config_error(missing(error.what()) + "; see shoal " + chosen() + "--help");
    } catch (const CLI::ParseError& error) {
      return config_error(std::string(error.what()) + "; see shoal " + chosen() + "--help");
    }
    for (const auto& [app, runner] : runners_) {
      if (app->parsed()) {
        return std::optional(runner);
      }
    }
    return config_error("no command was given; see shoal --help");
  }

 private:
  void add(const Command& command) {
    CLI::App* sub = app_.add_subcommand(command.name, command.help);
    sub->footer(kFooter);
    sub->add_option("--set", cli_.settings, "set a key, as in --set train.batch=64; repeatable")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->add_flag("--json", cli_.json, "machine output on stdout");
    runners_.emplace_back(sub, command.declare(*sub, cli_));
  }

  Status check_command(const std::vector<std::string>& words) const {
    if (words.empty() || words.front().starts_with("-")) {
      return {};
    }
    std::vector<std::string> names;
    for (const auto& [app, runner] : runners_) {
      names.push_back(app->get_name());
    }
    if (std::find(names.begin(), names.end(), words.front()) != names.end()) {
      return {};
    }
    const std::string close = nearest(words.front(), names);
    return config_error("there is no command " + words.front() +
                        (close.empty() ? "; see shoal --help" : "; did you mean " + close + "?"));
  }

  /// What was left out, in words: CLI11 says "config is required".
  std::string missing(const std::string& what) const {
    for (const auto& [app, runner] : runners_) {
      for (const CLI::Option* option : app->get_options()) {
        if (app->parsed() && what.rfind(option->get_name() + " ", 0) == 0) {
          const std::string& text = option->get_description();
          return "shoal " + app->get_name() + " needs " + option->get_name() +
                 (text.rfind("the ", 0) == 0 ? ", " : ", the ") + text;
        }
      }
    }
    return what.rfind("A subcommand", 0) == 0 ? "a command is missing" : what;
  }

  std::string chosen() const {
    for (const auto& [app, runner] : runners_) {
      if (app->parsed()) {
        return app->get_name() + " ";
      }
    }
    return "";
  }

  Cli& cli_;
  CLI::App app_{"Trains one model on many unlike machines.", "shoal"};
  std::vector<std::pair<CLI::App*, Runner>> runners_;
};

void write_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Result<Config> Cli::load(const std::optional<std::string>& file) const {
  return load_config(full_schema(), {file, shoal_environment(), settings});
}

Log Cli::log() const {
  return Log([paint = colour](Level level, std::string_view sentence) {
    if (level == Level::kDebug) {
      return;
    }
    const char* word = level == Level::kError     ? "error: "
                       : level == Level::kWarning ? "warning: "
                                                  : "";
    const char* start = !paint                     ? ""
                        : level == Level::kError   ? "\033[31m"
                        : level == Level::kWarning ? "\033[33m"
                                                   : "";
    const char* stop = *start == 0 ? "" : "\033[0m";
    write_error(std::string(start) + word + stop + std::string(sentence) + "\n");
  });
}

int Cli::fail(const Error& error) const {
  const std::string peer = error.peer.empty() ? "" : " (peer " + error.peer + ")";
  log().error(error.message + peer);
  if (json) {
    const nlohmann::json out = {{"error", error.message}, {"code", code_name(error.code)}};
    std::puts(out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  return exit_code(error.code);
}

void add_shortcut(CLI::App& app, Cli& cli, const std::string& flag, const std::string& key,
                  const std::string& help) {
  app.add_option_function<std::string>(
         flag, [&cli, key](const std::string& value) { cli.settings.push_back(key + "=" + value); },
         help + " (short for --set " + key + "=...)")
      ->type_name("VALUE");
}

int run_cli(const std::string& program, const std::vector<std::string>& words,
            const std::vector<Command>& commands) {
  Cli cli;
  cli.program = program;
  const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): no threads yet
  cli.colour = ::isatty(STDERR_FILENO) != 0 && no_colour == nullptr;
  try {
    Parser parser(cli, commands);
    const auto runner = parser.parse(words);
    if (!runner.ok()) {
      return cli.fail(runner.error());
    }
    return runner->has_value() ? (**runner)(cli) : 0;
  } catch (const std::bad_alloc&) {
    return cli.fail(device_error(
        "memory ran out; take a smaller model or batch, or fewer peers (shoal config check says "
        "what a peer needs)"));
  } catch (const std::exception& error) {
    return cli.fail(
        internal_error(std::string("something went wrong in shoal itself: ") + error.what()));
  }
}

}  // namespace shoal::node
