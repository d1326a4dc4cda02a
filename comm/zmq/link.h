#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "comm/endpoint.h"
#include "comm/zmq/chunks.h"
#include "comm/zmq/pace.h"
#include "comm/zmq/rates.h"
#include "comm/zmq/socket.h"
#include "comm/zmq/tcp_info.h"

namespace shoal::comm {

inline constexpr std::size_t index_of(Class cls) { return static_cast<std::size_t>(cls); }

struct Link;

/// One TCP connection, dialled or accepted.
struct Connection {
  Connection(Socket* over, int descriptor, const std::shared_ptr<const Waker>& waker,
             std::uint64_t payload_bytes_max)
      : socket(over),
        fd(descriptor),
        outstanding(std::make_shared<Outstanding>(waker)),
        arriving(payload_bytes_max) {}

  Socket* socket;
  int fd;             ///< as libzmq knows it; -1 not connected yet
  std::string route;  ///< on the ROUTER, once something came; empty on what we dialled
  TcpProbe tcp;
  std::shared_ptr<Outstanding> outstanding;
  Reassembly arriving;
  std::uint64_t bytes_read = 0;     ///< in frames that libzmq gave us
  std::uint64_t watched_read = 0;   ///< that, and
  std::uint64_t watched_bytes = 0;  ///< what the kernel had received, when it last rose
  bool greeted = false;             ///< accepted ones: their first message was looked at
  Class cls = Class::kControl;
  Link* link = nullptr;      ///< null before its greeting and after we gave it up
  bool ended = false;        ///< closed below; what it left may still be read
  bool handed_over = false;  ///< libzmq has nothing of it any more that we could read later
  int marks = 0;             ///< sent when closing
};

/// The two connections of one dialling, one a class. They live and die together, so that whoever
/// sees a peer sees both, and a loss on either is a loss of the link; when a peer closes both, what
/// it sent before on either still arrives. Who accepts sends over the
/// connections that were made to it, so a peer that can only dial is a whole peer.
struct Link {
  Link(const PeerId& to, std::uint64_t number) : peer(to), id(number) {}

  PeerId peer;
  std::uint64_t id;
  Pace pace{false};
  LinkCredit credit;
  bool up = false;                           ///< control is usable
  std::array<Connection*, 2> connections{};  ///< by class
  std::optional<TimePoint> ended_since{};    ///< one has ended
  TimePoint moved_at{};                      ///< since then, bytes came last
  std::uint64_t moved_bytes = 0;

  [[nodiscard]] Connection* over(Class cls) const { return connections[index_of(cls)]; }
  /// Whether one of them has ended.
  [[nodiscard]] bool ended() const;
  /// Whether it is time to drop the link: both have ended and what they left was read, or the
  /// second does not follow the first though nothing comes over it any more. `again` becomes the
  /// time to ask again, if that is earlier.
  [[nodiscard]] bool over(TimePoint now, TimePoint& again);
  [[nodiscard]] Duration silence() const;
};

/// First frame of a dialled connection: which link and class it is, and what its sender takes in.
/// Who dials is known by its key. On control it is answered in kind, so that each side knows the
/// other's rate before it sends bulk.
struct Greeting {
  std::uint64_t link = 0;
  Class cls = Class::kControl;
  std::uint64_t rate = 0;  ///< bytes/s; 0 no bound

  [[nodiscard]] Bytes encode() const;
  static std::optional<Greeting> decode(ByteSpan frame);
};

/// `sum` plus the counters of one more connection.
void add_counters(LinkStats& sum, const LinkStats& more);

}  // namespace shoal::comm
