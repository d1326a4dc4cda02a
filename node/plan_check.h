#pragma once

#include <cstdint>
#include <string>

#include "node/config.h"

namespace shoal::node {

/// What a configuration amounts to for one peer, before anything is allocated.
struct PlanCheck {
  std::uint64_t parameters = 0;
  std::uint64_t memory_bytes = 0;  ///< training state, activations, exchange and data
  std::uint64_t data_bytes = 0;    ///< of that, the samples held
  std::string sentence;            ///< all of it for people
};

/// Puts the chosen plug-ins together as a peer would: data set, model on its samples, schedule,
/// optimizer, codecs. Errors: kConfig for what does not fit together (layers that do not match the
/// data), kData for a data set that is not there.
Result<PlanCheck> check_plan(const Config& config);

}  // namespace shoal::node
