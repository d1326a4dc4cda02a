#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/config.h"
#include "node/memory_plan.h"

namespace shoal::node {

/// What a configuration amounts to for one peer, before anything is allocated.
struct PlanCheck {
  std::uint64_t parameters = 0;
  MemoryTable memory;
  std::vector<std::string> recompute;  ///< layers computed again
  std::string sentence;                ///< all of it for people
};

/// Puts the chosen plug-ins together as a peer would: data set, model on its samples, schedule,
/// optimizer, codecs. Errors: kConfig for what does not fit together (layers that do not match the
/// data), kData for a data set that is not there, kDevice when nothing fits limits.memory.
Result<PlanCheck> check_plan(const Config& config);

}  // namespace shoal::node
