#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::node {

/// The newest round that all members hold, as then nothing is lost; where there is none, the newest
/// that more than half hold. `held` has what each member that said so holds; `members` counts the
/// others too. Pure, so that all that heard the same agree.
std::optional<std::uint64_t> agreed_round(const std::vector<std::vector<std::uint64_t>>& held,
                                          std::size_t members);

}  // namespace shoal::node
