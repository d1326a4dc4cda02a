#include "node/cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <new>

#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

using Catch::Matchers::Contains;
using node::Cli;
using node::Command;

/// Catches what is written to a descriptor while it lives.
class Captured {
 public:
  explicit Captured(int descriptor) : descriptor_(descriptor), file_(std::tmpfile()) {
    std::fflush(nullptr);
    saved_ = ::dup(descriptor);
    ::dup2(::fileno(file_), descriptor);
  }
  ~Captured() { restore(); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    restore();
    std::rewind(file_);
    std::string out;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
      out += static_cast<char>(c);
    }
    return out;
  }

 private:
  void restore() {
    if (saved_ >= 0) {
      std::fflush(nullptr);
      ::dup2(saved_, descriptor_);
      ::close(saved_);
      saved_ = -1;
    }
  }
  int descriptor_;
  std::FILE* file_;
  int saved_ = -1;
};

/// What the last command was called with.
struct Seen {
  std::vector<std::string> settings;
  bool json = false;
  std::string target;
};
Seen& seen() {
  static Seen last;
  return last;
}

std::vector<Command> commands() {
  return {{"train", "a command",
           [](CLI::App& app, Cli& cli) -> node::Runner {
             auto target = std::make_shared<std::string>();
             app.add_option("target", *target, "the thing to train")->required();
             node::add_shortcut(app, cli, "--device", "device.name", "a device");
             return [target](const Cli& parsed) {
               seen() = {parsed.settings, parsed.json, *target};
               const auto config = parsed.load(std::nullopt);
               return config.ok() ? 0 : parsed.fail(config.error());
             };
           }},
          {"break", "a command that throws",
           [](CLI::App&, Cli&) -> node::Runner {
             return [](const Cli&) -> int { throw std::runtime_error("a bug"); };
           }},
          {"swell", "a command that takes too much", [](CLI::App&, Cli&) -> node::Runner {
             return [](const Cli&) -> int { throw std::bad_alloc(); };
           }}};
}

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

Ran run(const std::vector<std::string>& words) {
  Captured out(STDOUT_FILENO);
  Captured err(STDERR_FILENO);
  Ran ran;
  ran.code = node::run_cli("shoal", words, commands());
  ran.err = err.text();
  ran.out = out.text();
  return ran;
}

TEST_CASE("a command gets its arguments, settings in order, and shortcuts") {
  const auto ran = run({"train", "--set", "train.batch=3", "here.toml", "--set=seed=4", "--json",
                        "--device", "cpu"});
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(seen().target == "here.toml");
  CHECK(seen().json);
  CHECK(seen().settings == std::vector<std::string>{"train.batch=3", "seed=4", "device.name=cpu"});
}

TEST_CASE("what is no command line is refused in words with code 2") {
  const auto unknown = run({"trian", "x"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("no command trian; did you mean train?"));
  CHECK(unknown.out.empty());
  CHECK(run({}).code == 2);
  const auto bare = run({"train"});
  CHECK(bare.code == 2);
  CHECK_THAT(bare.err, Contains("shoal train needs target, the thing to train; see"));
  CHECK(run({"train", "x", "--nonsense"}).code == 2);
  CHECK(run({"train", "x", "y"}).code == 2);
  const auto no_value = run({"train", "x", "--set", "train.batch"});
  CHECK(no_value.code == 2);
  CHECK_THAT(no_value.err, Contains("write --set table.key=value"));
  CHECK(run({"train", "x", "--set"}).code == 2);
}

TEST_CASE("a configuration error is said on stderr, and on stdout for programs") {
  const auto people = run({"train", "x", "--set", "train.bacth=3"});
  CHECK(people.code == 2);
  CHECK_THAT(people.err, Contains("error: ") && Contains("did you mean train.batch?"));
  CHECK(people.out.empty());
  const auto program = run({"train", "x", "--json", "--set", "train.bacth=3"});
  CHECK(program.code == 2);
  CHECK_THAT(program.out, Contains("\"code\":\"config\"") && Contains("train.bacth"));
}

TEST_CASE("help is no error, and documents the exit codes") {
  const auto help = run({"--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("train") && Contains("Exit codes: 0 done, 2 usage"));
  const auto command_help = run({"train", "--help"});
  CHECK(command_help.code == 0);
  CHECK_THAT(command_help.out, Contains("--set") && Contains("--json") && Contains("Exit codes"));
  CHECK_THAT(run({"--version"}).out, Contains("shoal 0."));
}

TEST_CASE("what a command throws ends in code 1, want of memory in 5") {
  const auto ran = run({"break"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains("a bug"));
  const auto full = run({"swell"});
  CHECK(full.code == 5);
  CHECK_THAT(full.err, Contains("memory ran out"));
}

TEST_CASE("the words of all kinds of error end in their documented codes") {
  const Cli cli;
  Captured err(STDERR_FILENO);
  CHECK(cli.fail(config_error("x")) == 2);
  CHECK(cli.fail(data_error("x")) == 3);
  CHECK(cli.fail(network_error("x", "ab12")) == 4);
  CHECK(cli.fail(device_error("x")) == 5);
  CHECK(cli.fail(internal_error("x")) == 1);
  CHECK_THAT(err.text(), Contains("x (peer ab12)") && !Contains("\033"));
}

}  // namespace
}  // namespace shoal::tests
