#include <algorithm>
#include <limits>
#include <utility>

#include "comm/limits.h"
#include "comm/zmq/world.h"

namespace shoal::comm {
namespace {

// When libzmq takes no more control frames, there is a flood of them to be waited out.
constexpr Duration kControlRetry = std::chrono::milliseconds(5);
constexpr int kAllFrames = std::numeric_limits<int>::max();

}  // namespace

void ZmqEndpoint::Impl::on_message(Connection& connection, Incoming& incoming) {
  if (connection.link == nullptr) {
    if (!connection.greeted) {
      greet(connection, incoming);
    }
    return;
  }
  if (on_endpoint_frame(connection, incoming)) {
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

/// What the endpoints tell each other; false when it is a protocol's.
bool ZmqEndpoint::Impl::on_endpoint_frame(Connection& connection, const Incoming& incoming) {
  if (incoming.parts != 1) {
    return false;
  }
  Link& link = *connection.link;
  if (const auto credit = Credit::decode(incoming.header.span())) {
    link.credit.on(*credit);
    return true;
  }
  if (!link.credit.rate) {  // only of a link that we dialled
    if (const auto answer = Greeting::decode(incoming.header.span())) {
      link.credit.rate = answer->rate;
      return true;
    }
  }
  return false;
}

SendResult ZmqEndpoint::Impl::send(const PeerId& to, Class cls, Message message) {
  Remote* remote = open_ ? find(to) : nullptr;
  if (remote == nullptr || remote->active == nullptr || remote->active->ended()) {
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
    // Under a bound others may wait longer.
    up_.bounded() ? feed_bulk(now()) : static_cast<void>(feed_bulk(*remote, now(), kAllFrames));
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
    up_.charge(now(), frame_cost(piece.header.size(), piece.chunk.size()));
    remote.control.take(piece);
  }
  if (!remote.control.empty()) {
    feed_again_ = std::min(feed_again_, now() + kControlRetry);
  }
}

void ZmqEndpoint::Impl::feed_bulk(TimePoint now) {
  if (!up_.bounded()) {
    for (auto& [id, remote] : remotes_) {
      feed_bulk(remote, now, kAllFrames);
    }
    return;
  }
  // A frame each in turn, so that no peer gets all there is.
  auto at = remotes_.upper_bound(served_);
  for (std::size_t idle = 0; idle < remotes_.size(); ++at) {
    at = at == remotes_.end() ? remotes_.begin() : at;
    const bool sent = feed_bulk(at->second, now, 1);
    served_ = sent ? at->first : served_;
    idle = sent ? 0 : idle + 1;
  }
}

/// Whether at least one frame went.
bool ZmqEndpoint::Impl::feed_bulk(Remote& remote, TimePoint now, int frames_max) {
  Connection* connection = remote.active == nullptr ? nullptr : remote.active->over(Class::kBulk);
  if (connection == nullptr || connection->ended || remote.bulk.empty()) {
    return false;
  }
  Pace& pace = remote.active->pace;
  const auto look = [&](bool more_waits) {
    if (pace.wants_samples()) {
      const TcpCounters counters = connection->tcp.counters();
      pace.sample(now, counters.acknowledged, counters.shortest_round_trip, more_waits);
    }
  };
  look(true);
  int frames = 0;
  while (!remote.bulk.empty() && frames < frames_max) {
    const std::size_t chunk_bytes =
        std::min({pace.chunk_bytes(), up_.chunk_bytes(),
                  rated_chunk_bytes(remote.active->credit.rate.value_or(0))});
    // First what libzmq holds, then the kernel: what moves meanwhile is counted twice, not never.
    const auto in_flight = [&] {
      const std::uint64_t held = connection->outstanding->bytes();
      return held + connection->tcp.unacknowledged();
    };
    if (in_flight() + chunk_bytes > pace.window_bytes()) {
      connection->outstanding->ask();
      if (in_flight() + chunk_bytes > pace.window_bytes()) {
        feed_again_ = std::min(feed_again_, now + pace.retry());
        return frames > 0;
      }
    }
    const auto piece = remote.bulk.peek(chunk_bytes);
    if (!allowed(remote, piece, now)) {
      return frames > 0;
    }
    const Sent sent = send_frames(*connection->socket, connection->route, piece.header, piece.chunk,
                                  connection->outstanding);
    if (sent != Sent::kOk) {
      connection->ended = sent == Sent::kGone;
      feed_again_ = std::min(feed_again_, now + pace.retry());
      return frames > 0;
    }
    remote.bulk.take(piece);
    ++frames;
  }
  look(!remote.bulk.empty());
  return frames > 0;
}

/// Whether our rate and the peer's let a frame go; it then counts as sent.
bool ZmqEndpoint::Impl::allowed(Remote& remote, const SendQueue::Piece& piece, TimePoint now) {
  LinkCredit& credit = remote.active->credit;
  const std::uint64_t cost = frame_cost(piece.header.size(), piece.chunk.size());
  const std::uint64_t lacks = credit.lacks(cost, remote.bulk.bytes() - piece.chunk.size());
  if (lacks > 0 && tell(*remote.active, {Credit::Kind::kAsk, lacks})) {
    credit.asked += lacks;
  }
  if (!credit.has(cost)) {
    return false;  // looked at again when credit comes
  }
  if (!up_.take(now, cost)) {
    feed_again_ = std::min(feed_again_, up_.due(cost));
    return false;
  }
  credit.use(cost);
  return true;
}

bool ZmqEndpoint::Impl::tell(Link& link, const Credit& credit) {
  Connection* control = link.over(Class::kControl);
  const bool told = control != nullptr && !control->ended &&
                    send_frames(*control->socket, control->route, credit.encode(), {},
                                control->outstanding) == Sent::kOk;
  if (!told) {
    feed_again_ = std::min(feed_again_, now() + kControlRetry);
  }
  return told;
}

void ZmqEndpoint::Impl::grant(TimePoint now) {
  if (!down_.bounded()) {
    return;
  }
  // A chunk each in turn, as in sending.
  auto at = remotes_.upper_bound(granted_);
  for (std::size_t idle = 0; idle < remotes_.size(); ++at) {
    at = at == remotes_.end() ? remotes_.begin() : at;
    bool granted = false;
    for (Link& link : at->second.accepted) {
      granted = grant(link, now) || granted;
    }
    if (DialledLink* link = at->second.dialler.link(); link != nullptr) {
      granted = grant(*link, now) || granted;
    }
    granted_ = granted ? at->first : granted_;
    idle = granted ? 0 : idle + 1;
  }
}

bool ZmqEndpoint::Impl::grant(Link& link, TimePoint now) {
  const std::uint64_t share =
      std::min<std::uint64_t>(link.credit.wanted, frame_cost(0, down_.chunk_bytes()));
  if (share == 0) {
    return false;
  }
  if (!down_.take(now, share)) {
    feed_again_ = std::min(feed_again_, down_.due(share));
    return false;
  }
  // What cannot be told now is lost to the bucket, not to the peer.
  if (!tell(link, {Credit::Kind::kGrant, share})) {
    return false;
  }
  link.credit.wanted -= share;
  return true;
}

}  // namespace shoal::comm
