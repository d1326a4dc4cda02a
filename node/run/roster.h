#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/wire/message.h"
#include "node/config.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Peers from swarm.roster, "key@host:port" each, the key in 64 hex digits.
/// Errors: kConfig, naming the entry.
Result<std::vector<comm::PeerCard>> parse_roster(const std::vector<std::string>& entries);

/// The id of a run that nobody invites to: from its name alone, so that peers whose keys differ
/// meet, and hear which do.
std::uint64_t run_of(const Config& config);

}  // namespace shoal::node
