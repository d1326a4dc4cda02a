#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "comm/invite.h"
#include "comm/limits.h"
#include "comm/membership.h"
#include "comm/workers.h"
#include "node/cli/arguments.h"
#include "node/files.h"
#include "node/live_table.h"
#include "node/run/cost_preview.h"
#include "node/run/interrupt.h"
#include "node/run/membership_file.h"
#include "node/run/peer_process.h"
#include "node/run/report.h"

namespace shoal::node {
namespace {

constexpr Duration kIntroduceWithin = std::chrono::seconds(20);

/// What a joiner must be told before it can begin.
struct Introduced {
  std::uint64_t run = 0;
  comm::Roster roster;
};

comm::Task<void> ask(comm::Loop& loop, const comm::Invite& invite, const comm::Identity& identity,
                     comm::PeerCard card, Log log, std::optional<Result<comm::Roster>>& out) {
  out = co_await comm::introduce(loop, invite, identity, std::move(card), kIntroduceWithin, log);
  loop.stop();
}

/// Reads the line, meets the inviter under the guest's key, and comes back with the run's keys.
Result<Introduced> introduce_ourselves(const Cli& cli, const std::string& line,
                                       const Config& config, const comm::Identity& identity) {
  auto invite = comm::Invite::decode(line);
  if (!invite.ok()) {
    return network_error("this invitation is refused: " + invite.error().message);
  }
  cli.log().info("asking to be let in to \"" + invite->run_name + "\"");
  SHOAL_ASSIGN(const auto endpoint,
               comm::ZmqEndpoint::open({.identity = invite->guest(), .port = 0, .announce = {}}));
  std::optional<Result<comm::Roster>> roster;
  {
    comm::ThreadWorkers workers;
    comm::Loop loop(*endpoint, &workers);
    const comm::PeerCard card{identity.id(), peer_name(config), {}};
    loop.spawn(ask(loop, *invite, identity, card, cli.log(), roster));
    loop.run();
  }
  endpoint->close(comm::limits::kLinger);
  SHOAL_ASSIGN(comm::Roster told, std::move(*roster));
  return Introduced{invite->run, std::move(told)};
}

/// Whether the person at this terminal agrees. Errors: kConfig when there is nobody to ask.
Status agree(const Cli& cli, const JoinArguments& arguments, const std::string& preview) {
  cli.log().info(preview);
  if (arguments.yes) {
    return {};
  }
  if (::isatty(STDIN_FILENO) == 0) {
    return config_error("nobody can be asked here (standard input is no terminal): --yes agrees");
  }
  std::cerr << "Take part? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") {
    return {};
  }
  return Error{Code::kCancelled, "not joining", {}};
}

/// The default port may belong to another peer of this machine; one that was asked for may not.
Result<std::unique_ptr<comm::ZmqEndpoint>> open_somewhere(const Cli& cli, Config& config,
                                                          const comm::Identity& identity) {
  auto endpoint = open_endpoint(config, identity);
  const Config::Entry* port = config.find("swarm.port");
  if (endpoint.ok() || endpoint.error().code != Code::kNetwork ||
      port->origin.kind != Origin::Kind::kDefault) {
    return endpoint;
  }
  auto other = comm::ZmqEndpoint::open({.identity = identity,
                                        .listen = config.get_string("swarm.listen"),
                                        .port = 0,
                                        .announce = config.get_strings("swarm.announce")});
  if (other.ok()) {
    cli.log().info(endpoint.error().message + "; listening on port " +
                   std::to_string((*other)->port()) + " instead");
  }
  return other;
}

/// Takes the run's keys over. Who did not say how to send, sends as the run's owners answer.
Status take_run_keys(const Cli& cli, const JoinArguments& arguments, const std::string& run_keys,
                     Config& config) {
  SHOAL_ASSIGN(auto set_aside, config.apply_run_keys(run_keys));
  if (config.find("compress.codec")->origin.kind == Origin::Kind::kDefault) {
    const std::string answer = "compress.answer";
    Cli as_answer = cli;
    as_answer.settings.push_back("compress.codec=" + config.chosen("answer"));
    for (const auto& [key, entry] : config.entries()) {
      if (key.rfind(answer + "_", 0) == 0) {
        as_answer.settings.push_back("compress." + key.substr(answer.size() + 1) + "=" +
                                     option_text(entry.value));
      }
    }
    SHOAL_ASSIGN(config, as_answer.load(arguments.config));
    SHOAL_ASSIGN(set_aside, config.apply_run_keys(run_keys));
  }
  for (const std::string& sentence : set_aside) {
    cli.log().info(sentence);
  }
  return {};
}

Result<RunFolder> folder_of(const Config& config, const JoinArguments& arguments) {
  if (arguments.resume) {
    return RunFolder::newest(config);
  }
  SHOAL_ASSIGN(RunFolder folder, RunFolder::create(config));
  SHOAL_TRY(write_file(folder.config(), config.effective()));
  return folder;
}

Result<int> join(const Cli& cli, const JoinArguments& arguments) {
  if (!comm::looks_like_invite(arguments.target)) {
    return config_error("\"" + arguments.target +
                        "\" is no invitation; it is the line that `shoal "
                        "up` or `shoal invite` printed, beginning with shoal1");
  }
  SHOAL_ASSIGN(Config config, cli.load(arguments.config));
  SHOAL_ASSIGN(const std::filesystem::path home, comm::home_folder());
  SHOAL_ASSIGN(comm::Identity identity, comm::Identity::load_or_create(home));
  SHOAL_ASSIGN(Introduced known, introduce_ourselves(cli, arguments.target, config, identity));
  SHOAL_TRY(take_run_keys(cli, arguments, known.roster.run_keys, config));
  SHOAL_ASSIGN(const std::string preview, cost_preview(config));
  SHOAL_TRY(agree(cli, arguments, preview));
  catch_interrupts();
  SHOAL_ASSIGN(const auto endpoint, open_somewhere(cli, config, identity));
  SHOAL_ASSIGN(PeerParts parts, make_peer_parts(config, cli.log()));
  SHOAL_ASSIGN(RunFolder folder, folder_of(config, arguments));
  SHOAL_TRY(write_membership(
      folder, {known.run, config.get_string("name"), endpoint->announced(), home.string()}));
  const std::string name = config.get_string("name");
  LiveTable table(STDERR_FILENO, ::isatty(STDERR_FILENO) != 0, cli.colour);
  PeerTask task(std::move(config), identity, folder);
  task.run = known.run;
  task.roster = std::move(known.roster.peers);
  task.invites = true;
  task.gather_within = Duration::max();
  task.on_status = [&table, &identity](const PeerStatus& status) {
    table.paint({{identity.id().short_id(), status}});
  };
  task.poll = [](PeerHost& host) {
    if (interrupted()) {
      host.request_leave();
    }
  };
  task.log = Log([&table, log = cli.log()](Level level, std::string_view sentence) {
    table.clear();
    log.write(level, sentence);
  });
  const PeerSummary summary = run_peer_process(*endpoint, std::move(parts), std::move(task));
  table.clear();
  return conclude(RunSummary::of(name, summary.wall_s, {summary}), folder, cli);
}

}  // namespace

int run_join(const Cli& cli, const JoinArguments& arguments) {
  const Result<int> code = join(cli, arguments);
  return code.ok() ? *code : cli.fail(code.error());
}

}  // namespace shoal::node
