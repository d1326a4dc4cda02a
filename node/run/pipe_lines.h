#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/wire/message.h"
#include "node/metrics.h"
#include "node/summary.h"
#include "ops/base/log.h"
#include "ops/base/result.h"

/// What `up` and the peers it started say to each other through pipes: a line of JSON each.
namespace shoal::node {

/// A peer listens, and where.
struct ReadyLine {
  comm::PeerCard card;
};
/// What to paste on another machine.
struct TokenLine {
  std::string token;
};
struct StatusLine {
  PeerStatus status;
};
/// A sentence for people.
struct NoteLine {
  Level level = Level::kInfo;
  std::string text;
};
struct SummaryLine {
  PeerSummary summary;
};
using PeerLine = std::variant<ReadyLine, TokenLine, StatusLine, NoteLine, SummaryLine>;

std::string line_text(const PeerLine& line);
/// Errors: kInternal for a line that no peer writes.
Result<PeerLine> parse_peer_line(std::string_view text);

/// Who takes part here; the peers may go.
struct RosterLine {
  std::uint64_t run = 0;
  std::vector<comm::PeerCard> peers;
};
/// The run is to end with a checkpoint.
struct StopLine {};
using ParentLine = std::variant<RosterLine, StopLine>;

std::string line_text(const ParentLine& line);
Result<ParentLine> parse_parent_line(std::string_view text);

}  // namespace shoal::node
