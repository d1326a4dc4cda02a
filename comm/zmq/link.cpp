#include "comm/zmq/link.h"

#include <algorithm>

#include "comm/limits.h"

namespace shoal::comm {
namespace {

constexpr std::uint32_t kMagic = 0x326c6873;  // "shl2"

// Two connections that a peer closes together end this close to each other, a slow link's resent
// segments included, if nothing more comes over the second.
constexpr Duration kSecondEnd = std::chrono::milliseconds(500);
constexpr Duration kHandOverLook = std::chrono::milliseconds(1);

}  // namespace

bool Link::over(TimePoint now, TimePoint& again) {
  if (!ended()) {
    return false;
  }
  bool all_ended = true;
  bool all_handed_over = true;
  bool unread = false;
  std::uint64_t bytes = 0;
  for (const Connection* connection : connections) {
    if (connection != nullptr) {
      all_ended = all_ended && connection->ended;
      all_handed_over = all_handed_over && connection->handed_over;
      unread = unread || (!connection->ended && connection->tcp.unread() > 0);
      bytes += connection->bytes_read + connection->tcp.read().bytes_received;
    }
  }
  if (all_ended && all_handed_over) {
    return true;
  }
  const bool first = !ended_since;
  ended_since = ended_since.value_or(now);
  if (first || ((bytes != moved_bytes || unread) && now - *ended_since < limits::kLinkTimeout)) {
    moved_bytes = bytes;
    moved_at = now;
  }
  const TimePoint end = moved_at + kSecondEnd;
  again = std::min(again, all_ended ? now + kHandOverLook : end);
  return now >= end;
}

bool Link::ended() const {
  return std::any_of(connections.begin(), connections.end(),
                     [](const Connection* c) { return c != nullptr && c->ended; });
}

Duration Link::silence() const {
  Duration shortest = Duration::max();
  for (const Connection* connection : connections) {
    if (connection != nullptr) {
      shortest = std::min(shortest, connection->tcp.silence());
    }
  }
  return shortest;
}

Bytes Greeting::encode() const {
  ByteWriter out;
  out.put(kMagic);
  out.put(cls);
  out.put(link);
  out.put(rate);
  return out.take_bytes();
}

std::optional<Greeting> Greeting::decode(ByteSpan frame) {
  ByteReader in(frame);
  std::uint32_t magic = 0;
  std::uint8_t cls = 0;
  Greeting greeting;
  if (!in.get(magic) || !in.get(cls) || !in.get(greeting.link) || !in.get(greeting.rate) ||
      in.left() != 0 || magic != kMagic || cls > static_cast<std::uint8_t>(Class::kBulk) ||
      greeting.rate > limits::kRateMax) {
    return std::nullopt;
  }
  greeting.cls = Class{cls};
  return greeting;
}

void add_counters(LinkStats& sum, const LinkStats& more) {
  sum.bytes_sent += more.bytes_sent;
  sum.bytes_received += more.bytes_received;
}

}  // namespace shoal::comm
