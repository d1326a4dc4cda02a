#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "comm/endpoint.h"
#include "comm/loop.h"
#include "node/worker.h"

namespace shoal::node {

/// A peer's figures of the moment; one line of the live table.
struct PeerStatus {
  std::string state = "starting";
  std::uint64_t step = 0;
  std::uint64_t round = 0;
  double epoch = 0;
  double loss = std::nan("");  ///< of the interval; NaN when no round has ended in it
  double samples_per_s = 0;
  double sent_per_s = 0;  ///< bytes/s
  double received_per_s = 0;
  std::uint64_t members = 0;

  [[nodiscard]] std::string json() const;
  /// Errors: kInternal when it is not what json() writes.
  static Result<PeerStatus> parse(std::string_view json);
};

/// What metrics ask of the peer at each line.
struct MetricSources {
  std::function<comm::LinkStats()> totals;
  std::function<Duration()> round_trip;  ///< the slowest link's
  std::function<std::map<std::string, std::uint64_t>()> dropped;
  std::function<comm::GroupStats()> group;
};

/// Writes metrics.jsonl: a line each `every` with what passed since the line before, and a line for
/// each event. Times are durations since the start. Threads: the loop; files on the io thread.
class Metrics {
 public:
  Metrics(comm::Loop& loop, std::filesystem::path file, MetricSources sources);

  /// A round is over. `hash` is the parameters' (every tenth round), else empty.
  void round(const RoundReport& report, const std::string& hash);
  void epoch(const EpochReport& report);
  void event(std::string_view kind, std::string_view sentence);

  /// Closes the interval: a line when rounds have passed, and the status as of now.
  PeerStatus tick(const std::string& state);
  /// Writes what has gathered. Errors: kData.
  comm::Task<Status> flush();

  /// Mean loss over about the last epoch of own samples.
  [[nodiscard]] double train_loss() const { return last_epoch_.mean_loss(); }
  [[nodiscard]] std::uint64_t counted_out() const { return counted_out_; }
  [[nodiscard]] double since_start() const { return seconds(loop_.now() - start_); }

 private:
  void line(const std::string& text);

  comm::Loop& loop_;
  std::filesystem::path file_;
  MetricSources sources_;
  TimePoint start_;
  std::string pending_;

  TimePoint interval_start_;
  comm::LinkStats interval_totals_;
  ops::BatchResult interval_;
  RoundReport times_;  // of the interval, sums
  std::uint64_t rounds_ = 0;
  RoundReport last_;
  std::string last_hash_;
  std::uint64_t counted_out_ = 0;
  ops::BatchResult last_epoch_;  // of the epoch at hand, or the one before while it is young
  ops::BatchResult this_epoch_;
};

}  // namespace shoal::node
