#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "comm/peer_id.h"
#include "comm/wire/message.h"
#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal::comm {

/// Control has a connection of its own, so that a ping never waits behind a model; bulk runs on
/// credits.
enum class Class : std::uint8_t { kControl, kBulk };

enum class SendResult {
  kOk,
  kFull,        ///< the peer's queue is full; nothing was queued
  kUnreachable  ///< no connection to this peer
};

/// A message arrived whole.
struct Arrived {
  PeerId from;
  Class cls = Class::kControl;
  Message message;
};
/// A connection to the peer stands (again): time for a hello.
struct Connected {
  PeerId peer;
};
/// The last connection to the peer is gone.
struct Closed {
  PeerId peer;
};
/// A frame from this peer was refused before it became a message; `reason` is a short fixed word
/// ("truncated", "oversized", "bad-header", "unknown-key", ...) to count by.
struct Dropped {
  PeerId from;  ///< zero when the key is unknown
  std::string reason;
  std::string sentence;
};
/// A dialled address did not lead to the peer; said once per state, told apart in words
/// (unreachable, refused key, handshake failed).
struct DialFailed {
  PeerId peer;
  std::string address;
  std::string sentence;
};
using Event = std::variant<Arrived, Connected, Closed, Dropped, DialFailed>;

/// What the connection itself knows of a link (TCP_INFO), over all its connections so far.
struct LinkStats {
  std::uint64_t bytes_sent = 0;  ///< acknowledged by the peer's kernel, payload of TCP
  std::uint64_t bytes_received = 0;
  Duration round_trip{0};    ///< smoothed
  double delivery_rate = 0;  ///< bytes/s, 0 unknown
};

/// The only door to the world. Owned by one loop; every call but `wake()` is made on its thread.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual PeerId self() const = 0;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Whether time is virtual: offloaded work then runs inline and completes after its cost.
  [[nodiscard]] virtual bool virtual_time() const = 0;

  /// Lets this key connect to us, and dials its addresses (none: wait to be dialled).
  virtual void allow(const PeerId& peer, const std::vector<std::string>& addresses) = 0;
  /// Closes the peer's connections and refuses its key from now on.
  virtual void forget(const PeerId& peer) = 0;

  /// Queues a message; never blocks, never loses one it took while the connection stands.
  virtual SendResult send(const PeerId& to, Class cls, Message message) = 0;
  /// Whether `bytes` more of bulk would be taken now.
  [[nodiscard]] virtual bool room(const PeerId& to, std::uint64_t bytes) const = 0;

  /// Takes what has happened; never blocks.
  virtual std::vector<Event> take_events() = 0;
  /// Blocks until something has happened, `wake()` was called, or the deadline passed.
  virtual void wait(TimePoint deadline) = 0;
  /// Ends a `wait` from any thread.
  virtual void wake() = 0;

  [[nodiscard]] virtual LinkStats stats(const PeerId& peer) const = 0;
  /// Sum over all links ever, those of refused strangers too.
  [[nodiscard]] virtual LinkStats totals() const = 0;

  /// Waits (bounded by `linger`) until queued frames are with the kernels of the peers that are
  /// there to get them, then closes.
  virtual void close(Duration linger) = 0;
};

}  // namespace shoal::comm
