// The hidden command by which `up` starts each of its peers.
#include <unistd.h>

#include <cstdio>

#include "node/cli/arguments.h"
#include "node/run/child.h"
#include "node/run/interrupt.h"
#include "node/run/membership_file.h"
#include "node/run/peer_process.h"
#include "node/run/pipe_lines.h"

namespace shoal::node {
namespace {

void say(const PeerLine& line) {
  const std::string text = line_text(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// All of a run's peers see much the same: the first tells it, the others warn only.
Log pipe_log(std::size_t index) {
  const Level least = index == 0 ? Level::kInfo : Level::kWarning;
  return Log([least](Level level, std::string_view sentence) {
    if (level >= least) {
      say(NoteLine{level, std::string(sentence)});
    }
  });
}

/// Passes on what the parent and signals want.
void poll(ParentPipe& parent, PeerHost& host) {
  for (const std::string& line : parent.read_lines()) {
    const auto parsed = parse_parent_line(line);
    if (parsed.ok() && std::holds_alternative<StopLine>(*parsed)) {
      host.request_stop();
    }
  }
  if (interrupted()) {
    host.request_leave();
  }
}

Result<PeerSummary> run(const Cli& cli, const PeerArguments& arguments) {
  SHOAL_ASSIGN(Config config, cli.load(arguments.config));
  SHOAL_TRY(apply_core_limit(config));
  RunFolder folder(arguments.run_folder);
  SHOAL_ASSIGN(comm::Identity identity,
               comm::Identity::load_or_create(folder.keys(arguments.index)));
  SHOAL_ASSIGN(const auto endpoint, open_endpoint(config, identity));
  const Log log = pipe_log(arguments.index);
  const BootClock clock;
  SHOAL_ASSIGN(PeerParts parts, make_peer_parts(config, log, &clock));
  say(ReadyLine{{identity.id(), peer_name(config), endpoint->announced()}});
  ParentPipe parent(STDIN_FILENO);
  SHOAL_ASSIGN(const std::string line, parent.wait_line());
  SHOAL_ASSIGN(ParentLine first, parse_parent_line(line));
  auto* roster = std::get_if<RosterLine>(&first);
  if (roster == nullptr || roster->peers.empty()) {
    return Error{Code::kCancelled, "stopped before the run began", {}};
  }
  if (arguments.invites) {
    SHOAL_TRY(
        write_membership(folder, {roster->run, config.get_string("name"), endpoint->announced(),
                                  folder.keys(arguments.index).string()}));
  }
  bool token_said = false;
  PeerTask task{std::move(config), std::move(identity), std::move(folder)};
  task.run = roster->run;
  task.founder = roster->peers.front().id;
  task.roster = std::move(roster->peers);
  task.invites = arguments.invites;
  task.resume_round = arguments.resume_round;
  if (arguments.resume) {
    SHOAL_ASSIGN(task.held, held_rounds(task.folder, task.identity.id(), log));
  }
  task.gather_within = arguments.patient ? Duration::max() : task.gather_within;
  task.on_status = [](const PeerStatus& status) { say(StatusLine{status}); };
  task.poll = [&parent, &token_said, &arguments](PeerHost& host) {
    if (arguments.invites && !token_said) {
      token_said = true;
      say(TokenLine{host.membership().invite().encode()});
    }
    poll(parent, host);
  };
  task.log = log;
  return run_peer_process(*endpoint, std::move(parts), std::move(task));
}

}  // namespace

int run_peer(const Cli& cli, const PeerArguments& arguments) {
  catch_interrupts();
  auto summary = run(cli, arguments);
  if (summary.ok()) {
    say(SummaryLine{*summary});
    return summary->exit_code;
  }
  PeerSummary failed;
  failed.status = summary.error().code == Code::kCancelled ? "left" : "failed";
  failed.error = summary.error().message;
  failed.exit_code = exit_code(summary.error().code);
  say(SummaryLine{failed});
  return failed.exit_code;
}

}  // namespace shoal::node
