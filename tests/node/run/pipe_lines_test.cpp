#include "node/run/pipe_lines.h"

#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

comm::PeerCard card() {
  comm::PeerCard c;
  c.id.key[0] = std::byte{7};
  c.name = "a \"name\"\nwith everything";
  c.addresses = {"127.0.0.1:4000", "[::1]:4000"};
  return c;
}

PeerLine again(const PeerLine& line) {
  const std::string text = line_text(line);
  CHECK(text.find('\n') == std::string::npos);
  auto back = parse_peer_line(text);
  REQUIRE(back.ok());
  return std::move(*back);
}

}  // namespace

TEST_CASE("pipe lines: what a peer says comes back as it was") {
  const auto ready = std::get<ReadyLine>(again(ReadyLine{card()}));
  CHECK(ready.card.id == card().id);
  CHECK(ready.card.name == card().name);
  CHECK(ready.card.addresses == card().addresses);
  CHECK(std::get<TokenLine>(again(TokenLine{"shoal1x"})).token == "shoal1x");
  const auto note = std::get<NoteLine>(again(NoteLine{Level::kWarning, "x\ny"}));
  CHECK(note.level == Level::kWarning);
  CHECK(note.text == "x\ny");
  PeerStatus status;
  status.step = 9;
  status.loss = 0.25;
  const auto said = std::get<StatusLine>(again(StatusLine{status})).status;
  CHECK(said.step == 9);
  CHECK(said.loss == 0.25);
  PeerSummary summary;
  summary.status = "done";
  summary.bytes_sent = ~std::uint64_t{0};
  CHECK(std::get<SummaryLine>(again(SummaryLine{summary})).summary.bytes_sent == ~std::uint64_t{0});
}

TEST_CASE("pipe lines: what the parent says comes back as it was") {
  const auto roster = parse_parent_line(line_text(ParentLine(RosterLine{1ULL << 63U, {card()}})));
  REQUIRE(roster.ok());
  CHECK(std::get<RosterLine>(*roster).run == 1ULL << 63U);
  CHECK(std::get<RosterLine>(*roster).peers.at(0).id == card().id);
  const auto stop = parse_parent_line(line_text(ParentLine(StopLine{})));
  REQUIRE(stop.ok());
  CHECK(std::holds_alternative<StopLine>(*stop));
}

TEST_CASE("pipe lines: anything else is an error") {
  for (const char* text : {"", "{}", "[]", "{\"say\":\"ready\",\"card\":{\"id\":\"xy\"}}",
                           "{\"say\":\"what\"}", "{\"do\":\"what\"}", "no json"}) {
    INFO(text);
    CHECK_FALSE(parse_peer_line(text).ok());
    CHECK_FALSE(parse_parent_line(text).ok());
  }
}

}  // namespace shoal::node::tests
