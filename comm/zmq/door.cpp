#include "comm/zmq/door.h"

#include <algorithm>

#include "comm/limits.h"

namespace shoal::comm {

void Door::read_events(const Told& told) {
  while (const auto event = plug_.next_event()) {
    switch (event->kind) {
      case ZMQ_EVENT_ACCEPTED:
        accept(event->value, told);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        plug_.socket().set_due(true);  // what it sent before comes first
        for (Connection& connection : connections_) {
          if (connection.fd == event->value && !connection.ended) {
            connection.ended = true;
            connection.fd = -1;  // the number may be another's from now on
          }
        }
        break;
      case ZMQ_EVENT_ACCEPT_FAILED:
        told.refused("accept-failed", "a connection could not be accepted: " +
                                          std::string(zmq_strerror(event->value)) +
                                          " (too many open files?)");
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        told.refused("bad-handshake",
                     "a connection did not get through the encrypted handshake (another program, "
                     "or a peer that expects another key here)");
        break;
      default:
        break;
    }
  }
}

void Door::accept(int fd, const Told& told) {
  Connection& connection =
      connections_.emplace_back(&plug_.socket(), fd, waker_, payload_bytes_max_);
  connection.tcp = TcpProbe::attach(fd);
  const auto strangers = std::count_if(connections_.begin(), connections_.end(),
                                       [](auto& c) { return c.link == nullptr && !c.ended; });
  if (static_cast<std::size_t>(strangers) > limits::kStrangersMax) {
    shut(connection);
    told.refused("too-many", "a connection was closed: too many have not said who they are");
  }
}

Connection* Door::find(const Incoming& incoming) {
  const auto known = by_route_.find(incoming.route);
  if (known != by_route_.end()) {
    return known->second;
  }
  // The latest that came through this descriptor: on a tie the earlier one has ended.
  for (auto at = connections_.rbegin(); at != connections_.rend(); ++at) {
    if (at->fd == incoming.fd && !at->ended && at->route.empty()) {
      at->route = incoming.route;
      by_route_.emplace(incoming.route, &*at);
      return &*at;
    }
  }
  return nullptr;
}

Connection* Door::receive(Incoming& incoming, const Told& told) {
  while (receive_frames(plug_.socket(), true, incoming)) {
    Connection* connection = find(incoming);
    if (connection == nullptr) {
      plug_.monitor().set_due(true);  // its acceptance was told before it could send
      read_events(told);
      connection = find(incoming);
    }
    if (connection != nullptr) {
      connection->bytes_read += incoming.bytes;
      return connection;
    }
    // Else it came and went between two looks, unknown to anybody.
  }
  return nullptr;
}

void Door::sweep(const Told& told) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    if (!at->ended || at->link != nullptr) {
      ++at;
      continue;
    }
    told.over(*at);
    by_route_.erase(at->route);
    at = connections_.erase(at);
  }
}

void Door::shut(Connection& connection) { connection.tcp.shut_down(); }

void Door::close() { plug_.close(); }

}  // namespace shoal::comm
