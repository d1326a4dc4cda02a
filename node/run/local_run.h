#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/live_table.h"
#include "node/run/child.h"
#include "node/run/pipe_lines.h"
#include "node/run/run_folder.h"
#include "ops/base/clock.h"
#include "ops/base/log.h"

namespace shoal::node {

/// What `up` starts.
struct LocalRunOptions {
  std::string program;      ///< this binary
  std::size_t local = 1;    ///< peers to start here
  std::size_t members = 1;  ///< swarm.peers
  std::uint64_t run = 0;    ///< id of the run
  std::optional<std::uint64_t> resume_round;
  bool resume = false;  ///< from a round that these and others elsewhere agree on
  bool colour = false;
  bool terminal = false;
  std::string name;
};

/// The peers of one machine as direct children: starts them, makes them known to each other, shows
/// a table while they train, passes an interrupt on, gathers their summaries.
class LocalRun {
 public:
  LocalRun(RunFolder folder, LocalRunOptions options, Log log);

  /// Errors: those of starting; once the peers have begun, what went wrong is in the summary.
  Result<RunSummary> run();

 private:
  struct Peer {
    Child child;
    std::string name;  ///< short id
    std::optional<comm::PeerCard> card;
    PeerStatus status;
    std::optional<PeerSummary> summary;
    bool over = false;
  };
  [[nodiscard]] Status start(const std::vector<comm::Identity>& identities);
  [[nodiscard]] std::vector<std::string> arguments(std::size_t index) const;
  void gather(int timeout_ms);
  void take(Peer& peer, const std::string& line);
  void take_end(Peer& peer);
  [[nodiscard]] bool all_ready() const;
  [[nodiscard]] bool all_over() const;
  void introduce();
  void pass_interrupt();
  void paint(bool now = false);
  void say(Level level, const std::string& text);
  [[nodiscard]] PeerSummary summary_of(Peer& peer, const comm::PeerId& id) const;

  RunFolder folder_;
  LocalRunOptions options_;
  Log log_;
  BootClock clock_;
  LiveTable table_;
  std::vector<Peer> peers_;
  TimePoint painted_;
  bool stopping_ = false;
  bool dismissed_ = false;  ///< we ended the peers ourselves
};

}  // namespace shoal::node
