#include <algorithm>
#include <cmath>

#include "comm/limits.h"
#include "comm/session.h"

// What the session does with the endpoint's events and with time.

namespace shoal::comm {

void Session::on_event(Event& event) {
  if (const auto* arrived = std::get_if<Arrived>(&event)) {
    on_arrived(*arrived);
  } else if (const auto* connected = std::get_if<Connected>(&event)) {
    on_connected(connected->peer);
  } else if (const auto* closed = std::get_if<Closed>(&event)) {
    on_closed(closed->peer);
  } else if (const auto* dropped = std::get_if<Dropped>(&event)) {
    on_dropped(*dropped);
  } else if (const auto* failed = std::get_if<DialFailed>(&event)) {
    count("dial-failed");
    if (handlers_.dial_failed) {
      handlers_.dial_failed(*failed);
    }
  }
  ban_the_bad();
}

void Session::on_connected(const PeerId& peer) {
  Remote* const remote = find(peer);
  if (remote == nullptr || !remote->allowed) {
    return;
  }
  remote->connected = true;
  remote->changed_at = loop_.now();
  remote->last_heard = loop_.now();
  remote->refusal.clear();
  remote->heard = false;  // another process may have this key now
  send_hello(peer, *remote);
}

void Session::on_closed(const PeerId& peer) {
  if (Remote* const remote = find(peer)) {
    remote->connected = false;
    remote->changed_at = loop_.now();
  }
}

void Session::on_dropped(const Dropped& dropped) {
  count(dropped.reason);
  Remote* const remote = find(dropped.from);
  if (remote == nullptr) {
    return;
  }
  if (dropped.reason == "other-version") {
    if (remote->refusal.empty()) {
      refuse_hello(dropped.from, *remote, {RefuseReason::kVersion, dropped.sentence});
    }
    return;
  }
  log_.debug("peer " + dropped.from.short_id() + ": " + dropped.sentence);
  add_penalty(dropped.from, limits::kPenaltyBadFrame);
}

void Session::on_arrived(const Arrived& arrived) {
  const PeerId& peer = arrived.from;
  Remote* const remote = find(peer);
  if (remote == nullptr || !remote->allowed || remote->banned_until) {
    count("not-allowed");
    return;
  }
  const Message& message = arrived.message;
  if (const auto* hello = std::get_if<Hello>(&message.body)) {
    on_hello(peer, *remote, message.header, *hello);
  } else if (const auto* refuse = std::get_if<Refuse>(&message.body)) {
    on_refuse(peer, *remote, *refuse);
  } else if (belongs(peer, *remote, arrived)) {
    remote->last_heard = loop_.now();
    remote->heard = true;  // nobody sends these before our hello was accepted
    confirm(peer, *remote);
    if (remote->session == message.header.session) {  // the receiver may have had it forgotten
      dispatch(peer, *remote, message);
    }
  }
}

std::optional<Refuse> Session::judge(const PeerId& peer, const Header& header,
                                     const Hello& hello) const {
  if (auto refuse = judge_hello(options_.facts, header, hello)) {
    return refuse;
  }
  return handlers_.judge ? handlers_.judge(peer, hello) : std::nullopt;
}

void Session::on_hello(const PeerId& peer, Remote& remote, const Header& header,
                       const Hello& hello) {
  const auto& past = remote.past_sessions;
  if (header.session == 0 || std::find(past.begin(), past.end(), header.session) != past.end()) {
    count("old-session");
    return;
  }
  if (const auto refuse = judge(peer, header, hello)) {
    refuse_hello(peer, remote, *refuse);
    return;
  }
  const bool new_life = remote.session != header.session;
  if (new_life) {
    begin_life(peer, remote, header.session);
  }
  if (!remote.windows[0].accept(header.sequence)) {
    count("replayed");
    add_penalty(peer, limits::kPenaltyReplay);
    return;
  }
  remote.hello = hello;
  remote.refusal.clear();
  remote.last_heard = loop_.now();
  remote.heard = hello.heard == own_session_ || (remote.heard && !new_life);
  if (hello.heard != own_session_) {
    send_hello(peer, remote);
  }
  if (new_life && handlers_.accepted) {
    handlers_.accepted(peer, hello);
  }
  confirm(peer, remote);
}

void Session::on_refuse(const PeerId& peer, Remote& remote, const Refuse& refuse) {
  count(std::string("by-peer-") + refusal_word(refuse.reason));
  // Once our hello was accepted, other reasons answer some request of ours.
  if (!remote.heard || refuse.reason <= RefuseReason::kKeys) {
    if (!remote.refusal.empty()) {
      return;
    }
    remote.refusal = refuse.sentence;
    end_life(peer, remote, false);
  }
  log_.warning("peer " + peer.short_id() + " refused us: " + refuse.sentence);
  if (handlers_.refused) {
    handlers_.refused(peer, refuse, false);
  }
}

void Session::refuse_hello(const PeerId& peer, Remote& remote, const Refuse& refuse) {
  count(refusal_word(refuse.reason));
  end_life(peer, remote, false);
  post(peer, remote, Class::kControl, {{}, refuse, {}});
  const bool first = remote.refusal.empty();
  remote.refusal = refuse.sentence;
  if (first) {
    log_.warning("refused peer " + peer.short_id() + ": " + refuse.sentence);
    if (handlers_.refused) {
      handlers_.refused(peer, refuse, true);
    }
  }
}

bool Session::belongs(const PeerId& peer, Remote& remote, const Arrived& arrived) {
  const Header& header = arrived.message.header;
  if (remote.session == 0) {
    count("before-hello");
    return false;
  }
  if (header.session != remote.session) {
    count("old-session");
    const auto& past = remote.past_sessions;
    if (std::find(past.begin(), past.end(), header.session) == past.end() &&
        loop_.now() - remote.hello_sent >= limits::kHeartbeat) {
      send_hello(peer, remote);  // it goes on as another, and its hello was lost: it says it again
    }
    return false;
  }
  if (header.run != options_.facts.run) {
    penalise(peer, "other-run");
    return false;
  }
  if (!remote.windows[static_cast<std::size_t>(arrived.cls)].accept(header.sequence)) {
    count("replayed");
    add_penalty(peer, limits::kPenaltyReplay);
    return false;
  }
  return true;
}

void Session::dispatch(const PeerId& peer, Remote& remote, const Message& message) {
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message.body)) {
    remote.meter.hear(*heartbeat, loop_.now());
    remote.status = {heartbeat->round, heartbeat->step, heartbeat->loss, heartbeat->samples_per_s};
  } else if (std::holds_alternative<Bye>(message.body)) {
    on_bye(peer, remote, message);
  } else if (std::holds_alternative<Enrol>(message.body) ||
             std::holds_alternative<Roster>(message.body)) {
    if (handlers_.membership) {
      handlers_.membership(peer, message);
    }
  } else if (remote.hello.observer) {
    penalise(peer, "observer-in-round");
  } else if (receiver_ != nullptr) {
    receiver_->on_message(peer, message);
  } else {
    count("no-receiver");
  }
}

void Session::on_bye(const PeerId& peer, Remote& remote, const Message& message) {
  log_.info("peer " + peer.short_id() + " left: " + std::get<Bye>(message.body).reason);
  if (receiver_ != nullptr && !remote.hello.observer) {
    receiver_->on_message(peer, message);
  }
  remote.left = true;
  end_life(peer, remote, true);
}

void Session::begin_life(const PeerId& peer, Remote& remote, std::uint64_t session) {
  end_life(peer, remote, true);
  remote.session = session;
  if (std::exchange(remote.windows_session, session) != session) {
    remote.windows = {};
  }
  remote.heard = false;
  remote.left = false;
  remote.meter = {};
  remote.status = {};
}

void Session::end_life(const PeerId& peer, Remote& remote, bool for_good) {
  const std::uint64_t ended = std::exchange(remote.session, 0);
  if (ended != 0 && for_good) {
    remote.past_sessions.push_back(ended);
    if (remote.past_sessions.size() > limits::kPastSessionsKept) {
      remote.past_sessions.pop_front();
    }
  }
  set_alive(peer, remote, false);
}

void Session::confirm(const PeerId& peer, Remote& remote) {
  if (remote.session != 0 && remote.heard && !remote.hello.observer) {
    set_alive(peer, remote, true);
  }
}

void Session::set_alive(const PeerId& peer, Remote& remote, bool alive) {
  if (std::exchange(remote.alive, alive) == alive) {
    return;
  }
  log_.debug("peer " + peer.short_id() + (alive ? " is alive" : " is dead"));
  if (receiver_ != nullptr) {
    receiver_->on_alive(peer, alive);
  }
}

void Session::send_hello(const PeerId& peer, Remote& remote) {
  remote.hello_sent = loop_.now();
  const RunFacts& facts = options_.facts;
  Hello hello{kProtocolVersion,   options_.name, facts.model_hash, facts.keys_hash,
              options_.addresses, options_.rate, facts.observer,   remote.session};
  post(peer, remote, Class::kControl, {{}, std::move(hello), {}});
}

void Session::tick() {
  const TimePoint now = loop_.now();
  // A laptop that slept, or a process that stood still, has no right to call the others silent.
  const bool slept = now - next_tick_ > 2 * limits::kHeartbeat;
  std::erase_if(remotes_, [](const auto& entry) { return !entry.second.allowed; });
  std::vector<PeerId> everybody;  // callbacks may allow more
  for (const auto& [peer, remote] : remotes_) {
    everybody.push_back(peer);
  }
  for (const PeerId& peer : everybody) {
    Remote& remote = remotes_.at(peer);
    if (slept) {
      remote.last_heard = now;
      remote.changed_at = std::max(remote.changed_at, now - limits::kHeartbeat);
    }
    tick(peer, remote, now);
  }
  ban_the_bad();
  next_tick_ = now + limits::kHeartbeat;
  timer_ = loop_.add_timer(next_tick_, [this] { tick(); });
}

void Session::tick(const PeerId& peer, Remote& remote, TimePoint now) {
  remote.penalty = std::max(0, remote.penalty - limits::kPenaltyDecay);
  if (remote.banned_until && now >= *remote.banned_until) {
    remote.banned_until.reset();
    endpoint_.allow(peer, remote.addresses);
  }
  const bool silent = now - remote.last_heard > limits::kSuspect;
  const bool closed = !remote.connected && now - remote.changed_at > limits::kSuspectClosed;
  if (remote.alive && (silent || closed)) {
    log_.info("peer " + peer.short_id() + (closed ? ": its connection closed" : " went silent"));
    set_alive(peer, remote, false);
  }
  if (!remote.connected || !remote.allowed || !remote.refusal.empty()) {
    return;
  }
  if (remote.session != 0) {
    Heartbeat beat;
    beat.round = status_.round;
    beat.step = status_.step;
    beat.loss = status_.loss;
    const bool sane = std::isfinite(status_.samples_per_s) && status_.samples_per_s >= 0;
    beat.samples_per_s = sane ? status_.samples_per_s : 0;
    remote.meter.stamp(beat, now);
    post(peer, remote, Class::kControl, {{}, beat, {}});
  } else if (!remote.left && now - remote.changed_at > limits::kHandshake) {
    count("no-hello");
    remote.connected = false;
    remote.changed_at = now;
    endpoint_.forget(peer);
    endpoint_.allow(peer, remote.addresses);
    return;
  }
  const bool owed = remote.session == 0 || !remote.heard;
  if (owed && !remote.left && now - remote.hello_sent >= limits::kHeartbeat) {
    send_hello(peer, remote);
  }
}

}  // namespace shoal::comm
