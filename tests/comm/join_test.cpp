// The whole way in, over real sockets: a pasted line, the guest's visit, then the peer itself.
#include <optional>

#include "comm/membership.h"
#include "comm/workers.h"
#include "tests/comm/zmq/peers.h"

namespace shoal::comm {
namespace {

using tests::Peer;

constexpr std::uint64_t kRun = 77;

/// Turns of two loops until `done`.
bool turns(std::vector<std::pair<Loop*, Peer*>> peers, const std::function<bool()>& done) {
  const BootClock clock;
  const TimePoint end = clock.now() + std::chrono::minutes(1);
  while (clock.now() < end && !done()) {
    for (auto& [loop, peer] : peers) {
      peer->endpoint->wait(
          std::min(loop->run_ready(), peer->endpoint->now() + std::chrono::milliseconds(1)));
      loop->run_ready();
    }
  }
  return done();
}

SessionOptions session_options(bool observer) {
  SessionOptions options;
  options.facts.run = kRun;
  options.facts.observer = observer;
  options.name = "test";
  options.draw_session = [] { return random_u64() | 1U; };
  return options;
}

TEST_CASE("join: from a pasted line to a peer of the run, over encrypted links", "[zmq]") {
  Peer host;
  ThreadWorkers workers;
  Loop host_loop(*host.endpoint, &workers);
  Membership members(
      host_loop, {host.identity, "host", host.addresses(), kRun, "test", "seed=1\n", true}, Log{});
  SessionHandlers handlers;
  members.install(handlers);
  Session session(host_loop, session_options(false), std::move(handlers), Log{});
  members.start(session, {});

  const auto invite = Invite::decode(members.invite().encode());
  REQUIRE(invite.ok());
  const Identity own = Identity::generate();
  std::optional<Result<Roster>> outcome;
  {
    Peer guest(invite->guest());
    Loop loop(*guest.endpoint, &workers);
    const auto visit = [&]() -> Task<void> {
      const PeerCard card{own.id(), "joiner", {}};
      outcome.emplace(
          co_await introduce(loop, *invite, own, card, std::chrono::seconds(50), Log{}));
    };
    loop.spawn(visit());
    REQUIRE(turns({{&host_loop, &host}, {&loop, &guest}}, [&] { return outcome.has_value(); }));
    guest.endpoint->close(limits::kLinger);
  }
  INFO((outcome->ok() ? "" : outcome->error().message));
  REQUIRE(outcome->ok());
  CHECK((*outcome)->run_keys == "seed=1\n");

  Peer joiner(own);
  Loop loop(*joiner.endpoint, &workers);
  Session joined(loop, session_options(false), {}, Log{});
  for (const PeerCard& card : (*outcome)->peers) {
    if (card.id != own.id()) {
      joined.allow(card.id, card.addresses);
    }
  }
  CHECK(turns({{&host_loop, &host}, {&loop, &joiner}},
              [&] { return session.alive(own.id()) && joined.alive(host.id()); }));
}

}  // namespace
}  // namespace shoal::comm
