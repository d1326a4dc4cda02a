#include "node/run/local_run.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "node/run/interrupt.h"

namespace shoal::node {
namespace {

using std::chrono::milliseconds;

constexpr int kTurnMs = 100;
constexpr Duration kPaintEvery = milliseconds(500);
/// How long peers may take to leave after an interrupt before they are killed.
constexpr Duration kLeaveWithin = std::chrono::seconds(30);

std::string signal_words(int signal) {
  return signal == SIGKILL ? "it was killed" : "it ended by signal " + std::to_string(signal);
}

}  // namespace

LocalRun::LocalRun(RunFolder folder, LocalRunOptions options, Log log)
    : folder_(std::move(folder)),
      options_(std::move(options)),
      log_(std::move(log)),
      table_(STDERR_FILENO, options_.terminal, options_.colour) {}

std::vector<std::string> LocalRun::arguments(std::size_t index) const {
  std::vector<std::string> words = {"peer",
                                    "--config",
                                    folder_.config().string(),
                                    "--run-folder",
                                    folder_.path().string(),
                                    "--index",
                                    std::to_string(index),
                                    "--set",
                                    "data.part=" + std::to_string(index)};
  const bool alone = options_.local == options_.members;
  if (alone) {
    words.insert(words.end(), {"--set", "swarm.listen=127.0.0.1"});
  }
  if (alone || index > 0) {
    words.insert(words.end(), {"--set", "swarm.port=0"});
  } else {
    words.emplace_back("--invite");
  }
  if (!alone) {
    words.emplace_back("--patient");
  }
  if (options_.resume) {
    words.emplace_back("--resume");
  } else if (options_.resume_round.has_value()) {
    words.insert(words.end(), {"--resume-round", std::to_string(*options_.resume_round)});
  }
  return words;
}

Status LocalRun::start(const std::vector<comm::Identity>& identities) {
  for (std::size_t i = 0; i < identities.size(); ++i) {
    SHOAL_ASSIGN(Child child, Child::start(options_.program, arguments(i)));
    peers_.push_back(
        {std::move(child), identities[i].id().short_id(), std::nullopt, {}, std::nullopt, false});
  }
  return {};
}

bool LocalRun::all_ready() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& p) { return p.card.has_value(); });
}

bool LocalRun::all_over() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.over; });
}

void LocalRun::say(Level level, const std::string& text) {
  table_.clear();
  log_.write(level, text);
}

void LocalRun::take(Peer& peer, const std::string& line) {
  auto parsed = parse_peer_line(line);
  if (!parsed.ok()) {
    say(Level::kWarning, parsed.error().message);
    return;
  }
  if (auto* ready = std::get_if<ReadyLine>(&*parsed)) {
    peer.card = std::move(ready->card);
  } else if (auto* status = std::get_if<StatusLine>(&*parsed)) {
    peer.status = std::move(status->status);
  } else if (auto* summary = std::get_if<SummaryLine>(&*parsed)) {
    peer.status.state = summary->summary.status;
    peer.summary = std::move(summary->summary);
  } else if (const auto* token = std::get_if<TokenLine>(&*parsed)) {
    say(Level::kInfo, "waiting for " + std::to_string(options_.members - options_.local) +
                          " more. On the other machine, or in another terminal:");
    say(Level::kInfo, "shoal join " + token->token);
  } else if (const auto* note = std::get_if<NoteLine>(&*parsed)) {
    say(note->level, peer.name + ": " + note->text);
  }
}

void LocalRun::take_end(Peer& peer) {
  peer.over = true;
  const int end = peer.child.wait();
  if (end < 0) {
    peer.status.state = "killed";
  }
  if (end < 0 && !stopping_ && !dismissed_) {
    // Its own last status may be older than the round in which it died.
    const bool under_way =
        std::any_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.status.round > 0; });
    say(Level::kWarning,
        "peer " + peer.name + ": " + signal_words(-end) + (under_way ? "; the others go on" : ""));
  }
}

void LocalRun::gather(int timeout_ms) {
  std::vector<pollfd> fds;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].child.output() >= 0) {
      fds.push_back({peers_[i].child.output(), POLLIN, 0});
      whose.push_back(i);
    }
  }
  ::poll(fds.data(), static_cast<nfds_t>(fds.size()), timeout_ms);
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) {
      continue;
    }
    Peer& peer = peers_[whose[i]];
    for (const std::string& line : peer.child.read_lines()) {
      take(peer, line);
    }
    if (peer.child.output() < 0) {
      take_end(peer);
    }
  }
}

void LocalRun::introduce() {
  RosterLine roster;
  roster.run = options_.run;
  for (const Peer& peer : peers_) {
    roster.peers.push_back(*peer.card);
  }
  const std::string line = line_text(ParentLine(std::move(roster)));
  for (const Peer& peer : peers_) {
    peer.child.write_line(line);
  }
}

void LocalRun::pass_interrupt() {
  if (!interrupted() || stopping_) {
    return;
  }
  stopping_ = true;
  say(Level::kInfo, "leaving after this round, with a checkpoint (Ctrl-C again: at once)");
  for (const Peer& peer : peers_) {
    peer.child.write_line(line_text(ParentLine(StopLine{})));
  }
}

void LocalRun::paint(bool now) {
  if (!now && clock_.now() < painted_ + kPaintEvery) {
    return;
  }
  painted_ = clock_.now();
  std::vector<TableRow> rows;
  for (const Peer& peer : peers_) {
    rows.push_back({peer.name, peer.status});
  }
  table_.paint(rows);
}

PeerSummary LocalRun::summary_of(Peer& peer, const comm::PeerId& id) const {
  const int end = peer.child.wait();
  if (peer.summary.has_value() && end >= 0) {
    return *peer.summary;
  }
  PeerSummary summary;
  summary.id = id.hex();
  if (end < 0 && stopping_ && peer.status.round == 0) {
    summary.status = "left";
    summary.error = "interrupted before the run began";
    return summary;
  }
  summary.status = end < 0 ? "killed" : "failed";
  summary.error = end < 0 ? signal_words(-end) : "it ended without a word";
  summary.exit_code = end < 0 ? 1 : end;
  summary.rounds = peer.status.round;
  summary.steps = peer.status.step;
  summary.train_loss = peer.status.loss;
  return summary;
}

Result<RunSummary> LocalRun::run() {
  SHOAL_ASSIGN(const auto identities, folder_.identities(options_.local));
  const TimePoint began = clock_.now();
  SHOAL_TRY(start(identities));
  std::optional<TimePoint> leave_by;
  bool introduced = false;
  while (!all_over()) {
    gather(kTurnMs);
    if (!introduced && all_ready()) {
      introduce();
      introduced = true;
    }
    const bool lost = !introduced && std::any_of(peers_.begin(), peers_.end(),
                                                 [](const Peer& p) { return p.over; });
    pass_interrupt();
    if (!leave_by.has_value() && (stopping_ || lost)) {
      leave_by = clock_.now() + (lost || !introduced ? Duration{0} : kLeaveWithin);
    }
    if (leave_by.has_value() && clock_.now() >= *leave_by) {
      dismissed_ = true;
      for (const Peer& peer : peers_) {
        peer.child.send_signal(SIGKILL);
      }
    }
    paint();
  }
  paint(true);
  table_.leave();
  std::vector<PeerSummary> summaries;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    summaries.push_back(summary_of(peers_[i], identities[i].id()));
  }
  return RunSummary::of(options_.name, seconds(clock_.now() - began), std::move(summaries));
}

}  // namespace shoal::node
