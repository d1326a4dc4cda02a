#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/result.h"

namespace shoal::node {

/// What one peer has to say of a run when it ends.
struct PeerSummary {
  std::string id;      ///< 64 hex digits
  std::string name;    ///< for people
  std::string status;  ///< "done", "stopped", "left", "killed" or "failed"
  std::string error;   ///< a sentence, when failed
  int exit_code = 0;
  std::uint64_t first_round = 0;  ///< first round it took part in
  std::uint64_t rounds = 0;       ///< last round applied
  std::uint64_t steps = 0;
  std::uint64_t samples = 0;  ///< behind all rounds, over all members
  double train_loss = 0;      ///< mean over the last epoch's worth of its own samples
  double test_loss = 0;
  double test_accuracy = 0;
  double wall_s = 0;
  std::uint64_t bytes_sent = 0;  ///< as the kernel counts them
  std::uint64_t bytes_received = 0;
  std::optional<double> target_reached_s;
  std::string parameter_hash;
  std::uint64_t left_out = 0;                    ///< part contributions that waited a round
  std::uint64_t repairs = 0;                     ///< times its state was replaced by the group's
  std::uint64_t recoveries = 0;                  ///< ballots that it led
  std::uint64_t counted_out = 0;                 ///< rounds with numbers that were not finite
  std::map<std::string, std::uint64_t> dropped;  ///< frames by reason
  std::vector<std::string> residuals_lost;

  /// One line of JSON.
  [[nodiscard]] std::string json() const;
  /// Errors: kInternal when it is not what json() writes.
  static Result<PeerSummary> parse(std::string_view json);
};

/// summary.json of a run: the peers of this machine put together.
struct RunSummary {
  std::string name;
  std::string status;  ///< "done", "stopped", "left" or "failed"
  std::string error;
  double wall_s = 0;
  std::vector<PeerSummary> peers;

  /// Status and error from the peers: the best that any of them came to, if those that came to it
  /// agree on the parameters.
  static RunSummary of(std::string name, double wall_s, std::vector<PeerSummary> peers);
  /// The peer whose figures stand for the run: the first that is done (or stopped, or any).
  [[nodiscard]] const PeerSummary* speaker() const;
  /// Exit code of the command that made the run.
  [[nodiscard]] int exit_code() const;
  /// Every field of the format, indented.
  [[nodiscard]] std::string json() const;
};

}  // namespace shoal::node
