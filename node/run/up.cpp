#include <unistd.h>

#include "comm/identity.h"
#include "node/cli/arguments.h"
#include "node/files.h"
#include "node/run/interrupt.h"
#include "node/run/local_run.h"
#include "node/run/own_binary.h"
#include "node/run/peer_process.h"
#include "node/run/report.h"

namespace shoal::node {
namespace {

struct Prepared {
  RunFolder folder;
  std::optional<std::uint64_t> resume_round;
};

/// A run goes on only under the keys that it began with.
Status same_run_keys(const Config& config, const RunFolder& folder) {
  SHOAL_ASSIGN(const Config before, load_config(full_schema(), {folder.config().string(), {}, {}}));
  if (before.run_keys() == config.run_keys()) {
    return {};
  }
  return config_error("the run in " + folder.path().string() +
                      " began with other keys, and a resumed run keeps them:\n" +
                      run_keys_difference(config.run_keys(), before.run_keys()));
}

Result<Prepared> prepare_resume(const Config& config, std::size_t local, const Cli& cli) {
  SHOAL_ASSIGN(RunFolder folder, RunFolder::newest(config));
  SHOAL_TRY(same_run_keys(config, folder));
  const auto members = static_cast<std::size_t>(config.get_int("swarm.peers"));
  if (local < members) {
    return Prepared{std::move(folder), std::nullopt};  // the peers agree with those elsewhere
  }
  // Of all peers nothing is lost. Of fewer, the shared state is whole: what the others owed is
  // lost.
  std::vector<std::string> skipped;
  auto point = Checkpoints::newest(folder.checkpoints(), members, skipped);
  for (const std::size_t fewer : {members / 2 + 1, std::size_t{1}}) {
    if (!point.ok()) {
      std::vector<std::string> ignored;
      point = Checkpoints::newest(folder.checkpoints(), fewer, ignored);
    }
  }
  for (const std::string& sentence : skipped) {
    cli.log().warning("checkpoint of " + sentence);
  }
  if (!point.ok()) {
    return point.error();
  }
  Checkpoints::prune(folder.checkpoints(), point->round);
  cli.log().info("going on from round " + std::to_string(point->round) + " of " +
                 folder.path().string());
  return Prepared{std::move(folder), point->round};
}

Result<Prepared> prepare(const Config& config, const UpArguments& arguments, std::size_t local,
                         const Cli& cli) {
  if (arguments.resume) {
    return prepare_resume(config, local, cli);
  }
  SHOAL_ASSIGN(RunFolder folder, RunFolder::create(config));
  SHOAL_TRY(write_file(folder.config(), config.effective()));
  return Prepared{std::move(folder), std::nullopt};
}

Result<int> up(const Cli& cli, const UpArguments& arguments) {
  SHOAL_ASSIGN(const Config config, cli.load(arguments.config));
  const auto members = static_cast<std::size_t>(config.get_int("swarm.peers"));
  const auto local =
      static_cast<std::size_t>(arguments.members.value_or(static_cast<std::int64_t>(members)));
  if (local > members) {
    return config_error("--peers " + std::to_string(local) + " is more than swarm.peers = " +
                        std::to_string(members) + "; --set swarm.peers=" + std::to_string(local));
  }
  SHOAL_TRY(check_memory(config));
  SHOAL_ASSIGN(Prepared prepared, prepare(config, arguments, local, cli));
  LocalRunOptions options;
  options.program = own_binary();
  options.local = local;
  options.members = members;
  options.run = comm::random_u64();
  options.resume_round = prepared.resume_round;
  options.resume = arguments.resume && local < members;
  options.terminal = ::isatty(STDERR_FILENO) != 0;
  options.colour = cli.colour;
  options.name = config.get_string("name");
  catch_interrupts();
  LocalRun run(prepared.folder, std::move(options), cli.log());
  SHOAL_ASSIGN(const RunSummary summary, run.run());
  return conclude(summary, prepared.folder, cli);
}

}  // namespace

int run_up(const Cli& cli, const UpArguments& arguments) {
  const Result<int> code = up(cli, arguments);
  return code.ok() ? *code : cli.fail(code.error());
}

}  // namespace shoal::node
