#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/zmq_endpoint.h"
#include "tests/support/catch.h"

namespace shoal::comm::tests {

/// A real endpoint on loopback at a port of the kernel's choice, and all that happened to it.
struct Peer {
  explicit Peer(const Identity& who = Identity::generate(), std::uint16_t port = 0,
                bool insecure = false, std::uint64_t up = 0, std::uint64_t down = 0)
      : identity(who), rate_up(up), rate_down(down) {
    open(port, insecure);
  }

  void open(std::uint16_t port, bool insecure) {
    auto opened = ZmqEndpoint::open({.identity = identity,
                                     .listen = "127.0.0.1",
                                     .port = port,
                                     .announce = {},
                                     .insecure_loopback = insecure,
                                     .rate_up = rate_up,
                                     .rate_down = rate_down});
    INFO((opened.ok() ? "" : opened.error().message));
    REQUIRE(opened.ok());
    endpoint = std::move(*opened);
    events.clear();
  }

  [[nodiscard]] PeerId id() const { return identity.id(); }
  [[nodiscard]] std::vector<std::string> addresses() const { return endpoint->announced(); }

  template <typename Kind>
  [[nodiscard]] std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Event& event : events) {
      if (const auto* match = std::get_if<Kind>(&event)) {
        found.push_back(*match);
      }
    }
    return found;
  }
  template <typename Kind>
  [[nodiscard]] std::size_t count() const {
    return all<Kind>().size();
  }
  [[nodiscard]] std::size_t dropped(const std::string& reason) const {
    const auto drops = all<Dropped>();
    return static_cast<std::size_t>(
        std::count_if(drops.begin(), drops.end(), [&](auto& d) { return d.reason == reason; }));
  }

  Identity identity;
  std::uint64_t rate_up;
  std::uint64_t rate_down;
  std::unique_ptr<ZmqEndpoint> endpoint;
  std::vector<Event> events;
};

/// Runs peers in turn until `done`; false when that never came (a minute: no test waits for it).
inline bool run_until(const std::vector<Peer*>& peers, const std::function<bool()>& done,
                      Duration most = std::chrono::seconds(60)) {
  const BootClock clock;
  const TimePoint end = clock.now() + most;
  while (clock.now() < end) {
    for (Peer* peer : peers) {
      peer->endpoint->wait(peer->endpoint->now() + std::chrono::milliseconds(1));
      for (Event& event : peer->endpoint->take_events()) {
        peer->events.push_back(std::move(event));
      }
    }
    if (done()) {
      return true;
    }
  }
  return false;
}

/// `from` dials `to`, which is only allowed to be dialled.
inline void join(Peer& from, Peer& to) {
  to.endpoint->allow(from.id(), {});
  from.endpoint->allow(to.id(), to.addresses());
  REQUIRE(
      run_until({&from, &to}, [&] { return from.count<Connected>() && to.count<Connected>(); }));
}

inline Message ping(std::uint64_t nonce) {
  Message message;
  message.body = Heartbeat{.nonce = nonce};
  return message;
}

/// A bulk message whose payload is told by its sequence number.
inline Message bulk(std::uint64_t sequence, std::size_t bytes) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    payload[i] = static_cast<std::byte>((i * 31 + sequence + i / 256) & 255U);
  }
  Message message;
  message.header.sequence = sequence;
  Contribution body;
  body.granules = {0, 1};
  body.weights = {{body.granules, 1.0}};
  message.body = std::move(body);
  message.payload = Bytes(std::move(payload));
  return message;
}

inline bool same(ByteSpan a, ByteSpan b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace shoal::comm::tests
