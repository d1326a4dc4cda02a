#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "comm/loop.h"
#include "comm/net.h"
#include "comm/view.h"
#include "ops/base/log.h"

namespace shoal::comm {

struct FoundingOptions {
  std::size_t members = 1;  ///< that the run starts with
  std::uint64_t granules = 0;
  MayCut may_cut;  ///< where the first view's bounds may be
  /// One peer of the run draws its first view; whoever makes the run says which.
  bool founder = false;
  std::uint64_t branch = 0;  ///< of the founder's: 64 random bits
  std::uint64_t rate = 0;    ///< bytes/s that we give; 0 unknown
  double speed = 1;          ///< samples/s relative to the others
  /// How long to wait while nobody at all is there: whoever was just let in by somebody and then
  /// meets nobody came too late.
  Duration alone_within = Duration::max();
};

/// How a run begins for one peer.
struct FirstView {
  std::uint64_t branch = 0;
  View view;
  /// The run is on, without this life of ours: GroupMean::enter, not start.
  bool running = false;
  /// What faster members sent before we were told; to be handed to the group after its start.
  std::vector<std::pair<PeerId, Message>> early;
};

/// Waits until enough members are there and all hold the same first view. Each says Join when it
/// sees enough others; the founder, when enough have said so, draws the view, sorted by id, and
/// says it to everyone as the control of round 0. That one peer draws it is what makes it one:
/// peers that each took the members they saw could begin with two.
///
/// It is the net's receiver until it ends; set the next one at once then.
/// Errors: kNetwork at the deadline, naming how many were missing, and after `alone_within`.
Task<Result<FirstView>> wait_for_members(Loop& loop, Net& net, FoundingOptions options,
                                         TimePoint deadline, Log log);

}  // namespace shoal::comm
