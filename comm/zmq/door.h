#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "comm/zmq/link.h"

namespace shoal::comm {

/// The one bound socket and the connections that others made to it. A connection is known by the
/// route that libzmq gave it, never by a name that its peer chose: nobody can take another's.
class Door {
 public:
  Door(Plug plug, std::shared_ptr<const Waker> waker, std::uint64_t payload_bytes_max)
      : plug_(std::move(plug)), waker_(std::move(waker)), payload_bytes_max_(payload_bytes_max) {}

  struct Told {
    /// A connection was not opened (no handshake of ours); the sentence says why.
    std::function<void(const char* reason, const std::string& sentence)> refused;
    /// A connection is over; its counters are final.
    std::function<void(Connection&)> over;
  };

  /// Reads what became of connections.
  void read_events(const Told& told);
  /// The next message and its connection; null when there is none now.
  Connection* receive(Incoming& incoming, const Told& told);
  /// Takes connections off the list that ended, once all they sent was read.
  void sweep(const Told& told);
  /// Shuts a connection down; it goes with its end.
  void shut(Connection& connection);
  void close();

  [[nodiscard]] std::list<Connection>& connections() { return connections_; }
  [[nodiscard]] const std::list<Connection>& connections() const { return connections_; }
  [[nodiscard]] Plug& plug() { return plug_; }

 private:
  void accept(int fd, const Told& told);
  Connection* find(const Incoming& incoming);

  Plug plug_;
  std::shared_ptr<const Waker> waker_;
  std::uint64_t payload_bytes_max_;
  std::list<Connection> connections_;
  std::map<std::string, Connection*> by_route_;
};

}  // namespace shoal::comm
