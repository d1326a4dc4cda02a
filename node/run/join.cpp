#include <unistd.h>

#include <algorithm>
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
#include "node/run/roster.h"

namespace shoal::node {
namespace {

constexpr Duration kIntroduceWithin = std::chrono::seconds(20);
/// The inviter answered, so somebody is there, unless the person here took long to agree.
constexpr Duration kMeetWithin = std::chrono::seconds(60);

/// What a peer must know before it can begin.
struct Known {
  Config config;
  comm::Identity identity;
  std::filesystem::path keys;  ///< folder of the identity
  std::uint64_t run = 0;
  std::vector<comm::PeerCard> peers;
  comm::PeerId founder;
};

comm::Task<void> ask(comm::Loop& loop, const comm::Invite& invite, const comm::Identity& identity,
                     comm::PeerCard card, Log log, std::optional<Result<comm::Roster>>& out) {
  out = co_await comm::introduce(loop, invite, identity, std::move(card), kIntroduceWithin, log);
  loop.stop();
}

/// Reads the line, meets the inviter under the guest's key, and comes back with the run's keys.
Result<comm::Roster> introduce_ourselves(const Cli& cli, const comm::Invite& invite,
                                         const Config& config, const comm::Identity& identity) {
  cli.log().info("asking to be let in to \"" + invite.run_name + "\"");
  SHOAL_ASSIGN(const auto endpoint,
               comm::ZmqEndpoint::open({.identity = invite.guest(), .port = 0, .announce = {}}));
  std::optional<Result<comm::Roster>> roster;
  {
    comm::ThreadWorkers workers;
    comm::Loop loop(*endpoint, &workers);
    const comm::PeerCard card{identity.id(), peer_name(config), {}};
    loop.spawn(ask(loop, invite, identity, card, cli.log(), roster));
    loop.run();
  }
  endpoint->close(comm::limits::kLinger);
  return std::move(*roster);
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
Result<std::unique_ptr<comm::ZmqEndpoint>> open_somewhere(const Cli& cli, const Config& config,
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

Result<Known> known_by_invite(const Cli& cli, const JoinArguments& arguments) {
  auto invite = comm::Invite::decode(arguments.target);
  if (!invite.ok()) {
    return network_error("this invitation is refused: " + invite.error().message);
  }
  SHOAL_ASSIGN(Config config, cli.load(arguments.config));
  SHOAL_ASSIGN(const std::filesystem::path home, comm::home_folder());
  SHOAL_ASSIGN(comm::Identity identity, comm::Identity::load_or_create(home));
  SHOAL_ASSIGN(comm::Roster told, introduce_ourselves(cli, *invite, config, identity));
  SHOAL_TRY(take_run_keys(cli, arguments, told.run_keys, config));
  return Known{std::move(config), std::move(identity),   home,
               invite->run,       std::move(told.peers), invite->inviter};
}

/// A run whose peers all know each other beforehand: every one has the same roster and run keys.
Result<Known> known_by_config(const Cli& cli, const JoinArguments& arguments) {
  SHOAL_ASSIGN(Config config, cli.load(arguments.target));
  SHOAL_ASSIGN(const std::filesystem::path home, comm::home_folder());
  SHOAL_ASSIGN(comm::Identity identity, comm::Identity::load_or_create(home));
  SHOAL_ASSIGN(auto peers, parse_roster(config.get_strings("swarm.roster")));
  if (peers.empty() && config.get_int("swarm.peers") > 1) {
    return config_error(arguments.target +
                        " names nobody to train with; fill swarm.roster, or "
                        "paste the line that `shoal up` printed");
  }
  comm::PeerId founder = identity.id();
  for (const comm::PeerCard& card : peers) {
    founder = std::min(founder, card.id);
  }
  const std::uint64_t run = run_of(config);
  return Known{std::move(config), std::move(identity), home, run, std::move(peers), founder};
}

Result<Known> find_run(const Cli& cli, const JoinArguments& arguments) {
  std::error_code error;
  if (comm::looks_like_invite(arguments.target)) {
    return known_by_invite(cli, arguments);
  }
  if (std::filesystem::exists(arguments.target, error)) {
    return known_by_config(cli, arguments);
  }
  return config_error("\"" + arguments.target +
                      "\" is neither a file nor an invitation, which is "
                      "the line that `shoal up` or `shoal invite` printed");
}

/// Trains, showing one line of the table.
PeerSummary train(const Cli& cli, comm::ZmqEndpoint& endpoint, PeerParts parts, PeerTask task) {
  LiveTable table(STDERR_FILENO, ::isatty(STDERR_FILENO) != 0, cli.colour);
  task.on_status = [&table, &endpoint](const PeerStatus& status) {
    table.paint({{endpoint.self().short_id(), status}});
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
  PeerSummary summary = run_peer_process(endpoint, std::move(parts), std::move(task));
  table.leave();
  return summary;
}

Result<int> join(const Cli& cli, const JoinArguments& arguments) {
  SHOAL_ASSIGN(Known known, find_run(cli, arguments));
  SHOAL_ASSIGN(const std::string preview, cost_preview(known.config));
  SHOAL_TRY(agree(cli, arguments, preview));
  catch_interrupts();
  SHOAL_TRY(apply_core_limit(known.config));
  SHOAL_ASSIGN(const auto endpoint, open_somewhere(cli, known.config, known.identity));
  const BootClock clock;
  SHOAL_ASSIGN(PeerParts parts, make_peer_parts(known.config, cli.log(), &clock));
  SHOAL_ASSIGN(RunFolder folder, folder_of(known.config, arguments));
  const std::string name = known.config.get_string("name");
  SHOAL_TRY(
      write_membership(folder, {known.run, name, endpoint->announced(), known.keys.string()}));
  PeerTask task(std::move(known.config), std::move(known.identity), folder);
  if (arguments.resume) {
    SHOAL_ASSIGN(task.held, held_rounds(folder, task.identity.id(), cli.log()));
  }
  task.run = known.run;
  task.roster = std::move(known.peers);
  task.founder = known.founder;
  task.invites = true;
  task.gather_within = Duration::max();
  if (comm::looks_like_invite(arguments.target)) {
    task.alone_within = kMeetWithin;
  }
  const PeerSummary summary = train(cli, *endpoint, std::move(parts), std::move(task));
  return conclude(RunSummary::of(name, summary.wall_s, {summary}), folder, cli);
}

}  // namespace

int run_join(const Cli& cli, const JoinArguments& arguments) {
  const Result<int> code = join(cli, arguments);
  return code.ok() ? *code : cli.fail(code.error());
}

}  // namespace shoal::node
