#include "comm/invite.h"

#include <cstdio>

#include "comm/identity.h"
#include "node/cli/arguments.h"
#include "node/json.h"
#include "node/run/membership_file.h"

namespace shoal::node {
namespace {

Result<std::string> token_of(const Cli& cli, const InviteArguments& arguments) {
  SHOAL_ASSIGN(const Config config, cli.load(std::nullopt));
  SHOAL_ASSIGN(const RunFolder folder, RunFolder::find(config, arguments.run));
  SHOAL_ASSIGN(const MembershipFile file, read_membership(folder));
  SHOAL_ASSIGN(const comm::Identity identity, comm::Identity::load_or_create(file.keys));
  return comm::Invite::make(identity, file.run, file.name, file.addresses).encode();
}

}  // namespace

int run_invite(const Cli& cli, const InviteArguments& arguments) {
  const auto token = token_of(cli, arguments);
  if (!token.ok()) {
    return cli.fail(token.error());
  }
  if (cli.json) {
    std::puts(nlohmann::ordered_json{{"token", *token}}.dump().c_str());
  } else {
    cli.log().info("on the other machine, while the run goes on here:");
    std::puts(("shoal join " + *token).c_str());
  }
  return 0;
}

}  // namespace shoal::node
