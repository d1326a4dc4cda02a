#include "comm/zmq/link.h"

#include <algorithm>

namespace shoal::comm {
namespace {

constexpr std::uint32_t kMagic = 0x316c6873;  // "shl1"

}  // namespace

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
  return out.take_bytes();
}

std::optional<Greeting> Greeting::decode(ByteSpan frame) {
  ByteReader in(frame);
  std::uint32_t magic = 0;
  std::uint8_t cls = 0;
  Greeting greeting;
  if (!in.get(magic) || !in.get(cls) || !in.get(greeting.link) || in.left() != 0 ||
      magic != kMagic || cls > static_cast<std::uint8_t>(Class::kBulk)) {
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
