#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/memory_network.h"
#include "comm/session.h"
#include "tests/comm/wire/samples.h"

namespace shoal::comm::tests {

/// A peer with a session in a memory network: says what reaches its receiver and its handlers.
class SessionPeer final : public Net::Receiver {
 public:
  SessionPeer(MemoryNetwork& world, std::uint8_t own, std::uint64_t number,
              SessionOptions options = {})
      : network(world), id(sample_peer(own)), loop(world.add(id), nullptr), next_session(number) {
    world.attach(id, loop);
    if (options.facts.run == 0) {
      options.facts = {77, sample_hash(1), sample_hash(2), false};
    }
    options.name = "peer " + std::to_string(own);
    options.draw_session = [this] { return next_session++; };
    SessionHandlers handlers;
    handlers.accepted = [this](const PeerId& peer, const Hello&) { say("accepted", peer); };
    handlers.membership = [this](const PeerId& peer, const Message& m) {
      say(kind_name(m.body), peer);
    };
    handlers.refused = [this](const PeerId& peer, const Refuse& refuse, bool by_us) {
      const auto word = refuse.sentence.substr(0, refuse.sentence.find(':'));
      say((by_us ? "refused for " : "refused us for ") + word, peer);
    };
    handlers.dial_failed = [this](const DialFailed& d) { say(d.sentence.substr(0, 7), d.peer); };
    session = std::make_unique<Session>(loop, std::move(options), std::move(handlers), Log{});
    session->set_receiver(this);
  }
  void on_message(const PeerId& from, const Message& m) override {
    say(kind_name(m.body) + (m.header.round > 0 ? std::to_string(m.header.round) : ""), from);
  }
  void on_alive(const PeerId& peer, bool alive) override { say(alive ? "alive" : "dead", peer); }

  void allow(std::uint8_t peer, bool dial = true) {
    session->allow(sample_peer(peer),
                   dial ? std::vector<std::string>{"memory:1"} : std::vector<std::string>{});
  }
  SendResult send(std::uint8_t to, std::uint64_t round, Class cls = Class::kControl) {
    Message m;
    m.header.round = round;
    m.body = Fetch{};
    return session->send(sample_peer(to), cls, m);
  }
  /// What was said since the last call, as "word@peer".
  std::vector<std::string> take() { return std::exchange(trace, {}); }
  [[nodiscard]] std::uint64_t counted(const std::string& word) const {
    const auto it = session->counters().find(word);
    return it == session->counters().end() ? 0 : it->second;
  }
  [[nodiscard]] PeerInfo info(std::uint8_t peer) const {
    for (const PeerInfo& p : session->peers()) {
      if (p.id == sample_peer(peer)) {
        return p;
      }
    }
    return {};
  }

  MemoryNetwork& network;
  PeerId id;
  Loop loop;
  std::uint64_t next_session;
  std::unique_ptr<Session> session;
  std::vector<std::string> trace;

 private:
  void say(const std::string& word, const PeerId& peer) {
    trace.push_back(word + "@" + std::to_string(static_cast<int>(peer.key[0])));
  }
};

}  // namespace shoal::comm::tests
