#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "comm/identity.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

struct Made {
  comm::PeerId id;
  std::string folder;
  bool created = false;
};

Result<Made> make_key() {
  SHOAL_ASSIGN(const auto folder, comm::home_folder());
  std::error_code ignored;
  const bool had_one = std::filesystem::exists(folder / "identity.key", ignored);
  SHOAL_ASSIGN(const auto identity, comm::Identity::load_or_create(folder));
  return Made{identity.id(), folder.string(), !had_one};
}

int run_keygen(const Cli& cli) {
  const auto made = make_key();
  if (!made.ok()) {
    return cli.fail(made.error());
  }
  cli.log().info((made->created ? "made a key in " : "there is a key already in ") + made->folder +
                 "; this peer is " + made->id.short_id());
  if (cli.json) {
    const nlohmann::json out = {{"id", made->id.hex()},
                                {"short_id", made->id.short_id()},
                                {"folder", made->folder},
                                {"created", made->created}};
    std::puts(out.dump().c_str());
  } else {
    std::puts(made->id.hex().c_str());
  }
  return 0;
}

Runner declare(CLI::App& /*app*/, Cli& /*cli*/) { return run_keygen; }

}  // namespace

Command keygen_command() {
  return {"keygen", "make this machine's key, or say which it has", declare};
}

}  // namespace shoal::node
