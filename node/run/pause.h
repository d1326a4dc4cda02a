#pragma once

#include <functional>
#include <optional>
#include <string>

#include "node/run/run_folder.h"
#include "node/units.h"
#include "ops/base/log.h"

namespace shoal::node {

/// Why a peer is not to work now, in words; nothing when it may. `hour` is the local clock's.
std::optional<std::string> reason_to_pause(const Hours& hours, const std::string& hours_text,
                                           int hour, bool asked);

/// Hour of the local day, 0 to 23: the only thing in shoal that asks what time of day it is.
int local_hour();

/// Tells the peers of a run folder on this machine to stop computing, or to go on: a file that each
/// of them looks for. It stands until it is taken away, so a peer that is started again pauses too.
/// Errors: kData.
Status ask_to_pause(const RunFolder& folder, bool pause);
[[nodiscard]] bool asked_to_pause(const RunFolder& folder);

/// What a peer asks now and then: whether it is to pause. Says so in words when that changes.
class PauseWatch {
 public:
  /// Requires: limits.hours was checked at load.
  PauseWatch(const Config& config, RunFolder folder, Log log);
  [[nodiscard]] bool paused();

 private:
  std::string hours_text_;
  Hours hours_;
  RunFolder folder_;
  Log log_;
  std::optional<std::string> reason_;
};

}  // namespace shoal::node
