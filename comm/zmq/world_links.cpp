#include <algorithm>
#include <utility>

#include "comm/limits.h"
#include "comm/zmq/world.h"

namespace shoal::comm {

Door::Told ZmqEndpoint::Impl::door_told() {
  return {
      [this](const char* reason, const std::string& sentence) { dropped({}, reason, sentence); },
      [this](Connection& connection) { count(nullptr, connection); }};
}

Dialler::Tools ZmqEndpoint::Impl::tools() {
  return {*sockets_, waker_, options.payload_bytes_max, options.rate_down};
}

Remote* ZmqEndpoint::Impl::find(const PeerId& peer) {
  const auto found = remotes_.find(peer);
  return found == remotes_.end() ? nullptr : &found->second;
}

void ZmqEndpoint::Impl::allow(const PeerId& peer, const std::vector<std::string>& addresses) {
  const auto key = curve_key_of(peer);
  if (!open_ || peer == options.identity.id()) {
    return;
  }
  if (!key.ok() || (remotes_.size() >= limits::kPeersMax && find(peer) == nullptr)) {
    events_.emplace_back(DialFailed{
        peer, {}, key.ok() ? "there are too many peers to add another" : key.error().message});
    return;
  }
  gate_.allow(peer, *key);
  const auto [at, fresh] =
      remotes_.try_emplace(peer, options.identity.id(), peer, *key, sockets_->encrypted());
  at->second.dialler.set_addresses(addresses, now());
}

void ZmqEndpoint::Impl::forget(const PeerId& peer) {
  Remote* remote = find(peer);
  if (!open_ || remote == nullptr) {
    return;
  }
  gate_.refuse(peer);
  activate(*remote, nullptr);
  while (!remote->accepted.empty()) {
    drop_accepted(*remote, remote->accepted.front());
  }
  drop_dialled(*remote, now());
  remotes_.erase(peer);
}

void ZmqEndpoint::Impl::greet(Connection& connection, const Incoming& incoming) {
  connection.greeted = true;
  PeerId peer;
  Remote* remote = from_hex(incoming.user, peer.key) ? find(peer) : nullptr;
  const auto greeting = Greeting::decode(incoming.header.span());
  if (remote == nullptr || !greeting || incoming.parts != 1) {
    if (remote != nullptr) {
      dropped(peer, "bad-greeting", "a connection began with bytes that are no greeting of ours");
    }
    door_.shut(connection);
    return;
  }
  auto link = std::find_if(remote->accepted.begin(), remote->accepted.end(),
                           [&](const Link& l) { return l.id == greeting->link; });
  if (link == remote->accepted.end()) {
    if (remote->accepted.size() >= 2) {
      drop_accepted(*remote, remote->accepted.front());
    }
    link = remote->accepted.emplace(remote->accepted.end(), peer, greeting->link);
    link->pace = Pace(connection.tcp.loopback());
  }
  if (link->over(greeting->cls) != nullptr) {
    dropped(peer, "bad-greeting", "a second connection came for one place in a link");
    door_.shut(connection);
    return;
  }
  connection.cls = greeting->cls;
  connection.link = &*link;
  link->connections[index_of(greeting->cls)] = &connection;
  if (greeting->cls == Class::kControl) {
    link->credit.rate = greeting->rate;
    send_frames(*connection.socket, connection.route,
                Greeting{link->id, greeting->cls, options.rate_down}.encode(), {},
                connection.outstanding);
    link->up = true;
    on_up(*remote, *link);
  }
}

void ZmqEndpoint::Impl::on_up(Remote& remote, Link& link) {
  // A peer makes a link only when it has none, so what it made before is dead.
  if (&link != remote.dialler.link()) {
    for (auto at = remote.accepted.begin(); at != remote.accepted.end();) {
      Link& other = *at++;
      if (&other != &link) {
        drop_accepted(remote, other);
      }
    }
  }
  // A machine that lost its power says no goodbye; its heartbeats are missed before the link ends.
  if (remote.active != nullptr && remote.active->silence() > 2 * limits::kLinkHeartbeat) {
    activate(remote, nullptr);
  }
  if (remote.active == nullptr) {
    activate(remote, &link);
  }
}

void ZmqEndpoint::Impl::activate(Remote& remote, Link* link) {
  if (remote.active != nullptr) {
    events_.emplace_back(Closed{remote.id});
    remote.control.clear();
    remote.bulk.clear();
  }
  remote.active = link;
  if (link != nullptr) {
    events_.emplace_back(Connected{remote.id});
  }
}

void ZmqEndpoint::Impl::activate_other(Remote& remote) {
  Link* other = remote.dialler.link();
  if (other == nullptr || !other->up || other->ended()) {
    const auto found = std::find_if(remote.accepted.begin(), remote.accepted.end(),
                                    [](const Link& l) { return l.up && !l.ended(); });
    other = found == remote.accepted.end() ? nullptr : &*found;
  }
  if (other != nullptr) {
    activate(remote, other);
  }
}

void ZmqEndpoint::Impl::drop_accepted(Remote& remote, Link& link) {
  const bool was_active = remote.active == &link;
  if (was_active) {
    activate(remote, nullptr);
  }
  for (Connection* connection : link.connections) {
    if (connection != nullptr) {
      door_.shut(*connection);
      count(&remote, *connection);
      connection->link = nullptr;
    }
  }
  remote.accepted.remove_if([&](const Link& l) { return &l == &link; });
  if (was_active) {
    activate_other(remote);
  }
}

void ZmqEndpoint::Impl::drop_dialled(Remote& remote, TimePoint now) {
  DialledLink* link = remote.dialler.link();
  if (link == nullptr) {
    return;
  }
  const bool was_active = remote.active == link;
  if (was_active) {
    activate(remote, nullptr);
  }
  for (auto& connection : link->own) {
    if (connection) {
      count(&remote, *connection);
    }
  }
  remote.dialler.drop(now);
  if (was_active) {
    activate_other(remote);
  }
}

void ZmqEndpoint::Impl::end_links(TimePoint now) {
  end_again_ = kNever;
  for (auto& [id, remote] : remotes_) {
    if (DialledLink* link = remote.dialler.link(); link != nullptr && link->over(now, end_again_)) {
      drop_dialled(remote, now);
    }
    for (auto at = remote.accepted.begin(); at != remote.accepted.end();) {
      Link& link = *at++;
      if (link.over(now, end_again_)) {
        drop_accepted(remote, link);
      } else if (link.ended()) {
        look_for_end(link);
      }
    }
  }
  door_.sweep(door_told());
}

/// libzmq tells the end of a connection before it hands over the last messages, and refuses a route
/// only afterwards: a frame that means nothing asks it. On what we dialled its next attempt tells.
void ZmqEndpoint::Impl::look_for_end(Link& link) {
  for (Connection* connection : link.connections) {
    if (connection != nullptr && connection->ended && !connection->handed_over) {
      connection->handed_over =
          connection->route.empty() ||
          send_frames(*connection->socket, connection->route, Credit{}.encode(), {},
                      connection->outstanding) == Sent::kGone;
    }
  }
}

void ZmqEndpoint::Impl::on_dialler(Remote& remote, const Dialler::Seen& seen, TimePoint now) {
  if (seen.failure) {
    events_.emplace_back(DialFailed{remote.id, seen.address, *seen.failure});
  }
  if (seen.failed) {
    drop_dialled(remote, now);
  } else if (seen.up) {
    on_up(remote, *remote.dialler.link());
  }
}

void ZmqEndpoint::Impl::run_diallers(TimePoint now) {
  for (auto& [id, remote] : remotes_) {
    DialledLink* link = remote.dialler.link();
    if (remote.active != nullptr && link != nullptr && !link->up) {
      drop_dialled(remote, now);  // the peer was faster
    }
    on_dialler(remote, remote.dialler.run(now, remote.active != nullptr, tools()), now);
  }
}

void ZmqEndpoint::Impl::count(Remote* remote, Connection& connection) {
  const LinkStats last = connection.tcp.read();
  connection.tcp.close();
  add_counters(past_, last);
  if (remote != nullptr) {
    add_counters(remote->past, last);
  }
}

void ZmqEndpoint::Impl::watch_unread(TimePoint now) {
  if (now < watch_again_) {
    return;
  }
  watch_again_ = door_.connections().empty() ? kNever : now + limits::kLinkHeartbeat;
  for (Connection& connection : door_.connections()) {
    const std::uint64_t received = connection.tcp.read().bytes_received;
    if (connection.bytes_read != connection.watched_read) {
      connection.watched_read = connection.bytes_read;
      connection.watched_bytes = received;
    } else if (received > connection.watched_bytes + limits::kUnreadBytesMax) {
      dropped(connection.link == nullptr ? PeerId{} : connection.link->peer, "oversized",
              "a message without end filled the memory set aside for it");
      door_.shut(connection);
    }
  }
}

LinkStats ZmqEndpoint::Impl::stats(const PeerId& peer) const {
  const auto found = remotes_.find(peer);
  if (found == remotes_.end()) {
    return {};
  }
  const Remote& remote = found->second;
  LinkStats sum = remote.past;
  const auto add = [&](const Link& link) {
    for (const Connection* connection : link.connections) {
      if (connection != nullptr) {
        const LinkStats more = connection->tcp.read();
        add_counters(sum, more);
        sum.round_trip = more.round_trip;
        sum.delivery_rate = more.delivery_rate;
      }
    }
  };
  for (const Link& link : remote.accepted) {
    add(link);
  }
  if (const DialledLink* link = remote.dialler.link(); link != nullptr) {
    add(*link);
  }
  return sum;
}

LinkStats ZmqEndpoint::Impl::totals() const {
  LinkStats sum = past_;
  for (const Connection& connection : door_.connections()) {
    add_counters(sum, connection.tcp.read());
  }
  for (const auto& [id, remote] : remotes_) {
    if (const DialledLink* link = remote.dialler.link(); link != nullptr) {
      for (const auto& connection : link->own) {
        if (connection) {
          add_counters(sum, connection->tcp.read());
        }
      }
    }
  }
  return sum;
}

}  // namespace shoal::comm
