#pragma once

#include <cstdint>

#include "comm/endpoint.h"
#include "comm/fd.h"

namespace shoal::comm {

/// What the pace of a link follows from.
struct TcpCounters {
  std::uint64_t acknowledged = 0;
  Duration shortest_round_trip{0};
};

/// What the kernel knows of one connection. It keeps a descriptor of its own, so that the last
/// counters can be read when libzmq has closed its one and a number may have gone to another
/// connection; the connection ends for the peer only when both are closed.
class TcpProbe {
 public:
  TcpProbe() = default;
  /// `fd` as libzmq's monitor named it; a probe of something else than TCP reads zeros.
  static TcpProbe attach(int fd);

  /// Bytes acknowledged and received, smoothed round trip, delivery rate.
  [[nodiscard]] LinkStats read() const;
  [[nodiscard]] TcpCounters counters() const;
  /// Time since the peer's last bytes, libzmq's heartbeats included.
  [[nodiscard]] Duration silence() const;
  /// Bytes in the kernel that the peer has not acknowledged.
  [[nodiscard]] std::uint64_t unacknowledged() const;
  /// Bytes in the kernel that nobody here has read.
  [[nodiscard]] std::uint64_t unread() const;
  /// Whether the other end is on this machine's loopback.
  [[nodiscard]] bool loopback() const;
  [[nodiscard]] bool valid() const { return fd_.valid(); }
  /// Ends the connection for both sides, whoever holds descriptors of it.
  void shut_down() const;
  void close() { fd_.close(); }

 private:
  Fd fd_;
};

}  // namespace shoal::comm
