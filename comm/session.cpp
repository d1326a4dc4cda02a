#include "comm/session.h"

#include <algorithm>
#include <cmath>

#include "comm/limits.h"
#include "ops/base/check.h"

// What the session offers to protocols; session_events.cpp is what it does with the endpoint's
// events.

namespace shoal::comm {

Session::Session(Loop& loop, SessionOptions options, SessionHandlers handlers, Log log)
    : loop_(loop),
      endpoint_(loop.endpoint()),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      log_(std::move(log)),
      own_session_(options_.draw_session()),
      next_tick_(loop.now()) {
  SHOAL_CHECK(own_session_ != 0, "a session number is 64 random bits, not 0");
  loop_.set_event_handler([this](Event& event) { on_event(event); });
  timer_ = loop_.add_timer(next_tick_, [this] { tick(); });
}

Session::~Session() {
  loop_.cancel_timer(timer_);
  loop_.set_event_handler({});
}

Session::Remote* Session::find(const PeerId& peer) {
  const auto it = remotes_.find(peer);
  return it == remotes_.end() ? nullptr : &it->second;
}

const Session::Remote* Session::find(const PeerId& peer) const {
  const auto it = remotes_.find(peer);
  return it == remotes_.end() ? nullptr : &it->second;
}

void Session::allow(const PeerId& peer, const std::vector<std::string>& addresses) {
  if (find(peer) == nullptr && remotes_.size() >= limits::kPeersMax) {
    count("too-many-peers");
    log_.warning("peer " + peer.short_id() + " is not let in: there are " +
                 std::to_string(limits::kPeersMax) + " already");
    return;
  }
  Remote& remote = remotes_[peer];
  remote.allowed = true;
  remote.addresses = addresses;
  if (!remote.banned_until) {
    endpoint_.allow(peer, addresses);
  }
}

void Session::forget(const PeerId& peer) {
  Remote* const remote = find(peer);
  if (remote == nullptr || !std::exchange(remote->allowed, false)) {
    return;
  }
  endpoint_.forget(peer);
  remote->connected = false;
  end_life(peer, *remote, false);
}

void Session::leave(const std::string& reason) {
  for (auto& [peer, remote] : remotes_) {
    if (remote.session != 0) {
      post(peer, remote, Class::kControl, {{}, Bye{reason}, {}});
    }
  }
}

void Session::refuse(const PeerId& peer, Refuse refuse) {
  if (Remote* const remote = find(peer)) {
    count(refusal_word(refuse.reason));
    post(peer, *remote, Class::kControl, {{}, std::move(refuse), {}});
  }
}

SendResult Session::send(const PeerId& to, Class cls, Message message) {
  Remote* const remote = find(to);
  if (remote == nullptr || remote->session == 0) {
    return SendResult::kUnreachable;
  }
  return post(to, *remote, cls, std::move(message));
}

SendResult Session::post(const PeerId& peer, Remote& remote, Class cls, Message message) {
  if (!remote.connected) {
    return SendResult::kUnreachable;
  }
  std::uint64_t& sent = sent_[static_cast<std::size_t>(cls)];
  message.header.run = options_.facts.run;
  message.header.session = own_session_;
  message.header.sequence = sent + 1;
  const SendResult result = endpoint_.send(peer, cls, std::move(message));
  if (result == SendResult::kOk) {
    ++sent;
  }
  return result;
}

bool Session::alive(const PeerId& peer) const {
  const Remote* const remote = find(peer);
  return remote != nullptr && remote->alive;
}

std::uint64_t Session::session_of(const PeerId& peer) const {
  const Remote* const remote = find(peer);
  return remote == nullptr ? 0 : remote->session;
}

void Session::renew_session() {
  own_session_ = options_.draw_session();
  for (auto& [peer, remote] : remotes_) {
    remote.heard = false;
    if (remote.connected && remote.refusal.empty()) {
      send_hello(peer, remote);
    }
  }
}

std::vector<PeerId> Session::alive_peers() const {
  std::vector<PeerId> out;
  for (const auto& [peer, remote] : remotes_) {
    if (remote.alive) {
      out.push_back(peer);
    }
  }
  return out;
}

bool Session::idle(const PeerId& peer) const {
  return endpoint_.room(peer, limits::kBulkQueueBytesMax);  // a whole queue: none of it is taken
}

std::uint64_t Session::rate_of(const PeerId& peer) const {
  const Remote* const remote = find(peer);
  if (remote == nullptr) {
    return 0;
  }
  const double measured = endpoint_.stats(peer).delivery_rate;
  const std::uint64_t announced = remote->session == 0 ? 0 : remote->hello.rate;
  const bool known = measured >= 1 && measured <= static_cast<double>(limits::kRateMax);
  const std::uint64_t rate = known ? static_cast<std::uint64_t>(measured) : 0;
  return rate == 0 || announced == 0 ? std::max(rate, announced) : std::min(rate, announced);
}

void Session::penalise(const PeerId& peer, const std::string& reason) {
  count(reason);
  add_penalty(peer, limits::kPenaltyBadFrame);
}

void Session::add_penalty(const PeerId& peer, int points) {
  Remote* const remote = find(peer);
  if (remote == nullptr || remote->banned_until) {
    return;
  }
  remote->penalty += points;
  if (remote->penalty >= limits::kPenaltyBan) {
    bad_.push_back(peer);  // not here: the caller may be in the middle of this peer's message
  }
}

void Session::ban_the_bad() {
  for (const PeerId& peer : std::exchange(bad_, {})) {
    Remote* const remote = find(peer);
    if (remote != nullptr && !remote->banned_until) {
      ban(peer, *remote);
    }
  }
}

void Session::ban(const PeerId& peer, Remote& remote) {
  count("banned");
  log_.warning(
      "peer " + peer.short_id() + " sent too many frames that no honest peer sends; its " +
      "session is closed for " +
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limits::kBan).count()) +
      " s");
  remote.banned_until = loop_.now() + limits::kBan;
  remote.penalty = 0;
  remote.connected = false;
  endpoint_.forget(peer);
  end_life(peer, remote, false);
}

std::string Session::state_of(const Remote& remote) const {
  if (remote.banned_until) {
    return "banned";
  }
  if (!remote.refusal.empty()) {
    return "refused: " + remote.refusal;
  }
  if (remote.left) {
    return "left";
  }
  if (remote.session == 0) {
    return remote.connected ? "connecting" : "closed";
  }
  if (remote.hello.observer) {
    return "observer";
  }
  return remote.alive ? "alive" : remote.connected ? "silent" : "closed";
}

std::vector<PeerInfo> Session::peers() const {
  std::vector<PeerInfo> out;
  for (const auto& [peer, remote] : remotes_) {
    if (remote.allowed) {
      out.push_back({peer, remote.hello.name, remote.addresses, state_of(remote), remote.status,
                     remote.meter.round_trip(), endpoint_.stats(peer)});
    }
  }
  return out;
}

}  // namespace shoal::comm
