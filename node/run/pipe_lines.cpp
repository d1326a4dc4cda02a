#include "node/run/pipe_lines.h"

#include "node/json.h"

namespace shoal::node {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const comm::PeerCard& card) {
  return {{"id", card.id.hex()}, {"name", card.name}, {"addresses", card.addresses}};
}

comm::PeerCard card_from(const ordered_json& j) {
  comm::PeerCard card;
  if (!from_hex(j.at("id").get<std::string>(), card.id.key)) {
    throw std::invalid_argument("a peer's id is 64 hex digits");
  }
  card.name = j.at("name");
  card.addresses = j.at("addresses").get<std::vector<std::string>>();
  return card;
}

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

struct PeerWriter {
  ordered_json operator()(const ReadyLine& l) const {
    return {{"say", "ready"}, {"card", to_json(l.card)}};
  }
  ordered_json operator()(const TokenLine& l) const {
    return {{"say", "token"}, {"token", l.token}};
  }
  ordered_json operator()(const StatusLine& l) const {
    return {{"say", "status"}, {"status", l.status.json()}};
  }
  ordered_json operator()(const NoteLine& l) const {
    return {{"say", "note"}, {"level", static_cast<int>(l.level)}, {"text", l.text}};
  }
  ordered_json operator()(const SummaryLine& l) const {
    return {{"say", "summary"}, {"summary", l.summary.json()}};
  }
};

Result<PeerLine> peer_line(const ordered_json& j) {
  const std::string say = j.at("say");
  if (say == "ready") {
    return PeerLine(ReadyLine{card_from(j.at("card"))});
  }
  if (say == "token") {
    return PeerLine(TokenLine{j.at("token")});
  }
  if (say == "status") {
    SHOAL_ASSIGN(PeerStatus status, PeerStatus::parse(j.at("status").get<std::string>()));
    return PeerLine(StatusLine{std::move(status)});
  }
  if (say == "summary") {
    SHOAL_ASSIGN(PeerSummary summary, PeerSummary::parse(j.at("summary").get<std::string>()));
    return PeerLine(SummaryLine{std::move(summary)});
  }
  if (say == "note") {
    return PeerLine(NoteLine{static_cast<Level>(j.at("level").get<int>()), j.at("text")});
  }
  return internal_error("a peer said \"" + say + "\"");
}

Result<ParentLine> parent_line(const ordered_json& j) {
  const std::string word = j.at("do");
  if (word == "stop") {
    return ParentLine(StopLine{});
  }
  if (word != "roster") {
    return internal_error("the parent said \"" + word + "\"");
  }
  RosterLine roster;
  roster.run = j.at("run");
  for (const ordered_json& card : j.at("peers")) {
    roster.peers.push_back(card_from(card));
  }
  return ParentLine(std::move(roster));
}

/// What a library or a reader above throws, as an error.
template <typename T, typename Reader>
Result<T> parse_with(std::string_view text, Reader reader) {
  try {
    return reader(ordered_json::parse(text));
  } catch (const std::exception& e) {
    return internal_error("a line between processes can't be read: " + std::string(e.what()));
  }
}

}  // namespace

std::string line_text(const PeerLine& line) { return dump(std::visit(PeerWriter(), line)); }

Result<PeerLine> parse_peer_line(std::string_view text) {
  return parse_with<PeerLine>(text, peer_line);
}

std::string line_text(const ParentLine& line) {
  const auto* roster = std::get_if<RosterLine>(&line);
  if (roster == nullptr) {
    return dump({{"do", "stop"}});
  }
  ordered_json peers = ordered_json::array();
  for (const comm::PeerCard& card : roster->peers) {
    peers.push_back(to_json(card));
  }
  return dump({{"do", "roster"}, {"run", roster->run}, {"peers", std::move(peers)}});
}

Result<ParentLine> parse_parent_line(std::string_view text) {
  return parse_with<ParentLine>(text, parent_line);
}

}  // namespace shoal::node
