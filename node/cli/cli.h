#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/config.h"
#include "ops/base/log.h"
#include "ops/base/result.h"

namespace CLI {
class App;
}

namespace shoal::node {

/// What every command is given beside its own arguments.
struct Cli {
  std::string program;                ///< path of this binary, for starting peers
  std::vector<std::string> settings;  ///< --set a.b=value, and the flags that are short for one
  bool json = false;                  ///< machine output on stdout
  bool colour = false;                ///< stderr is a terminal and NO_COLOR is not set

  /// Configuration from `file` (none: defaults), this process's environment and `settings`.
  [[nodiscard]] Result<Config> load(const std::optional<std::string>& file) const;
  /// Sentences for people, on stderr.
  [[nodiscard]] Log log() const;
  /// Says the error (stderr; with --json also {"error": ..., "code": ...} on stdout).
  /// Returns its exit code.
  int fail(const Error& error) const;
};

/// What a parsed command line does; returns the exit code.
using Runner = std::function<int(const Cli&)>;

/// One line of the registry: a command declares its arguments on its sub-command and returns what
/// runs it. Each lies in a file of its own, `node/cli/<command>.cpp`.
struct Command {
  std::string name;
  std::string help;
  Runner (*declare)(CLI::App& app, Cli& cli);
};

const std::vector<Command>& commands();

/// A flag that is short for `--set key=value`.
void add_shortcut(CLI::App& app, Cli& cli, const std::string& flag, const std::string& key,
                  const std::string& help);

/// Parses the words behind the program's name with these commands and runs what they say. Never
/// throws. Returns the exit code.
int run_cli(const std::string& program, const std::vector<std::string>& words,
            const std::vector<Command>& commands);

}  // namespace shoal::node
