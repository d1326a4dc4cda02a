#include "comm/zmq/link.h"

#include <algorithm>

namespace shoal::comm {
namespace {

constexpr std::uint32_t kMagic = 0x326c6873;  // "shl2"

// libzmq tells the end of a connection a moment before it hands over the last messages.
constexpr Duration kLastMessages = std::chrono::milliseconds(1);
// Two connections that a peer closes together end this close to each other, a slow link's resent
// segments included.
constexpr Duration kSecondEnd = std::chrono::milliseconds(500);

}  // namespace

bool Link::over(TimePoint now, TimePoint& again) {
  if (!ended()) {
    return false;
  }
  const bool both = std::all_of(connections.begin(), connections.end(),
                                [](const Connection* c) { return c == nullptr || c->ended; });
  ending_since = ending_since.value_or(now);
  if (both) {
    ended_since = ended_since.value_or(now);
  }
  const TimePoint end = both ? *ended_since + kLastMessages : *ending_since + kSecondEnd;
  if (end > now) {
    again = std::min(again, end);
    return false;
  }
  return true;
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
