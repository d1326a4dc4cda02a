#include <algorithm>
#include <utility>

#include "comm/limits.h"
#include "comm/zmq/world.h"

namespace shoal::comm {
namespace {

// When libzmq takes no more control frames, there is a flood of them to be waited out.
constexpr Duration kControlRetry = std::chrono::milliseconds(5);

}  // namespace

void ZmqEndpoint::Impl::on_message(Connection& connection, Incoming& incoming) {
  if (connection.link == nullptr) {
    if (!connection.greeted) {
      greet(connection, incoming);
    }
    return;
  }
  const PeerId peer = connection.link->peer;
  if (incoming.parts > 2) {
    return dropped(peer, "bad-parts",
                   "a message of " + std::to_string(incoming.parts) + " frames; two is the most");
  }
  Result<Frame> frame = decode(incoming.header.span(), std::move(incoming.chunk));
  if (!frame.ok()) {
    return dropped(peer, drop_reason(frame.error()), frame.error().message);
  }
  Result<std::optional<Message>> message = connection.arriving.add(std::move(*frame));
  if (!message.ok()) {
    return dropped(peer, drop_reason(message.error()), message.error().message);
  }
  if (*message) {
    events_.emplace_back(Arrived{peer, connection.cls, std::move(**message)});
  }
}

SendResult ZmqEndpoint::Impl::send(const PeerId& to, Class cls, Message message) {
  Remote* remote = open_ ? find(to) : nullptr;
  if (remote == nullptr || remote->active == nullptr) {
    return SendResult::kUnreachable;
  }
  const Connection* over = remote->active->over(cls);
  if (over != nullptr && over->ended) {
    return SendResult::kUnreachable;
  }
  SendQueue& queue = remote->queue(cls);
  if (queue.messages() >= limits::kControlQueueMax ||
      (cls == Class::kBulk && !room(to, message.payload.size()))) {
    return SendResult::kFull;
  }
  queue.push(std::move(message));
  if (cls == Class::kControl) {
    feed_control(*remote);
  } else {
    feed_bulk(*remote, now());
  }
  return SendResult::kOk;
}

bool ZmqEndpoint::Impl::room(const PeerId& to, std::uint64_t bytes) const {
  const auto found = remotes_.find(to);
  if (found == remotes_.end() || found->second.active == nullptr) {
    return false;
  }
  // One message may be larger than the queue; it then has it to itself.
  const SendQueue& queue = found->second.bulk;
  return queue.empty() || queue.bytes() + bytes <= limits::kBulkQueueBytesMax;
}

void ZmqEndpoint::Impl::feed_control(Remote& remote) {
  Connection* connection =
      remote.active == nullptr ? nullptr : remote.active->over(Class::kControl);
  if (connection == nullptr || connection->ended) {
    return;
  }
  while (!remote.control.empty() && connection->outstanding->bytes() < limits::kControlBytesMax) {
    const auto piece = remote.control.peek(limits::kChunkBytesMax);
    const Sent sent = send_frames(*connection->socket, connection->route, piece.header, piece.chunk,
                                  connection->outstanding);
    if (sent != Sent::kOk) {
      connection->ended = sent == Sent::kGone;
      break;
    }
    remote.control.take(piece);
  }
  if (!remote.control.empty()) {
    feed_again_ = std::min(feed_again_, now() + kControlRetry);
  }
}

void ZmqEndpoint::Impl::feed_bulk(Remote& remote, TimePoint now) {
  Connection* connection = remote.active == nullptr ? nullptr : remote.active->over(Class::kBulk);
  if (connection == nullptr || connection->ended || remote.bulk.empty()) {
    return;
  }
  Pace& pace = remote.active->pace;
  const auto look = [&](bool more_waits) {
    if (pace.wants_samples()) {
      const TcpCounters counters = connection->tcp.counters();
      pace.sample(now, counters.acknowledged, counters.shortest_round_trip, more_waits);
    }
  };
  look(true);
  while (!remote.bulk.empty()) {
    const std::size_t chunk_bytes = pace.chunk_bytes();
    // First what libzmq holds, then the kernel: what moves meanwhile is counted twice, not never.
    const auto in_flight = [&] {
      const std::uint64_t held = connection->outstanding->bytes();
      return held + connection->tcp.unacknowledged();
    };
    if (in_flight() + chunk_bytes > pace.window_bytes()) {
      connection->outstanding->ask();
      if (in_flight() + chunk_bytes > pace.window_bytes()) {
        feed_again_ = std::min(feed_again_, now + pace.retry());
        return;
      }
    }
    const auto piece = remote.bulk.peek(chunk_bytes);
    const Sent sent = send_frames(*connection->socket, connection->route, piece.header, piece.chunk,
                                  connection->outstanding);
    if (sent != Sent::kOk) {
      connection->ended = sent == Sent::kGone;
      feed_again_ = std::min(feed_again_, now + pace.retry());
      return;
    }
    remote.bulk.take(piece);
  }
  look(false);
}

}  // namespace shoal::comm
