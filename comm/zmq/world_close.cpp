#include <algorithm>

#include "comm/zmq/world.h"

namespace shoal::comm {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(1);

}  // namespace

/// Whether the peer's kernel has all that was sent over a connection, or nobody is there to get it.
///
/// Two marks tell when libzmq's thread has written everything: it takes frames together, and the
/// second is taken only when what went with the first is out of its hands. We may not close before
/// the kernel's acknowledgement: with data of the peer unread, or still to come, a closed
/// connection is reset and forgets what it had not sent.
bool ZmqEndpoint::Impl::delivered(Connection* connection) {
  if (connection == nullptr || connection->ended) {
    return true;
  }
  if (connection->outstanding->bytes() > 0) {
    return false;
  }
  if (connection->marks < 2) {
    const Sent sent = send_mark(*connection->socket, connection->route, Credit{}.encode(),
                                connection->outstanding);
    connection->marks += sent == Sent::kOk ? 1 : 0;
    connection->ended = sent == Sent::kGone;
    return connection->ended;
  }
  return connection->tcp.unacknowledged() == 0;
}

/// Whether a living peer still has something to receive.
bool ZmqEndpoint::Impl::busy(Remote& remote) {
  Link* link = remote.active;
  if (link == nullptr || link->ended()) {
    return false;
  }
  if (!remote.control.empty() || !remote.bulk.empty()) {
    return true;
  }
  const bool control = delivered(link->over(Class::kControl));
  const bool bulk = delivered(link->over(Class::kBulk));
  return !control || !bulk;
}

void ZmqEndpoint::Impl::close(Duration linger) {
  if (!open_) {
    return;
  }
  const TimePoint deadline = now() + linger;
  const auto any_busy = [&] {
    return std::count_if(remotes_.begin(), remotes_.end(),
                         [this](auto& entry) { return busy(entry.second); }) > 0;
  };
  for (pump(); now() < deadline && any_busy(); pump()) {
    poll(std::min({deadline, next_timer(), now() + kLook}));
  }
  open_ = false;
  // What is not out by now stays behind: libzmq would wait for peers that are gone, too. The gate
  // closes last: where nobody answers for it, libzmq lets strangers in.
  door_.close();
  for (auto& [id, remote] : remotes_) {
    remote.dialler.close();
  }
  gate_.socket().zmq().close();
  sockets_->context().close();
  for (Connection& connection : door_.connections()) {
    count(connection.link == nullptr ? nullptr : find(connection.link->peer), connection);
  }
  for (auto& [id, remote] : remotes_) {
    drop_dialled(remote, now());
    remote.accepted.clear();
    remote.active = nullptr;
    remote.control.clear();
    remote.bulk.clear();
  }
  door_.connections().clear();
}

}  // namespace shoal::comm
