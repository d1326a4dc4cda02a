#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "comm/fd.h"
#include "comm/identity.h"
#include "comm/peer_id.h"
#include "ops/base/bytes.h"
#include "ops/base/clock.h"
#include "ops/base/result.h"

/// All that we ask of libzmq, without its exceptions.
namespace shoal::comm {

/// Ends a poll. Threads: wake() from any.
class Waker {
 public:
  Waker();
  void wake() const;
  void clear() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

/// Bytes of one connection that libzmq holds: counted up when handed over and down by libzmq's
/// thread when it needs them no more.
class Outstanding {
 public:
  explicit Outstanding(std::shared_ptr<const Waker> waker) : waker_(std::move(waker)) {}

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void add(std::uint64_t count) { bytes_ += count; }
  void release(std::uint64_t count);
  /// The next release ends the poll.
  void ask() { asked_ = true; }

 private:
  std::shared_ptr<const Waker> waker_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> asked_{false};
};

/// A socket and whether a look at it is due. libzmq's descriptor only tells of changes, so a poll
/// of ours looks at descriptors and touches those sockets alone that changed: one system call for
/// all, where zmq_poll makes several for each.
class Socket {
 public:
  explicit Socket(zmq::socket_t socket)
      : socket_(std::move(socket)), fd_(socket_.get(zmq::sockopt::fd)) {}

  [[nodiscard]] zmq::socket_t& zmq() { return socket_; }
  [[nodiscard]] int fd() const { return fd_; }
  /// Whether something may have come since a receive last found nothing.
  [[nodiscard]] bool due() const { return due_; }
  void set_due(bool due) { due_ = due; }

 private:
  zmq::socket_t socket_;
  int fd_;
  bool due_ = true;
};

enum class Sent : std::uint8_t { kOk, kFull, kGone };

/// Hands over a message of one or two frames (an empty chunk is none); never blocks. `route` names
/// the connection on a ROUTER, and is empty elsewhere. No copy of what is large: it stays alive
/// until libzmq is done with it.
Sent send_frames(Socket& socket, const std::string& route, const Bytes& header, const Bytes& chunk,
                 const std::shared_ptr<Outstanding>& outstanding);

/// A small frame of which `outstanding` knows until libzmq's thread has taken it.
Sent send_mark(Socket& socket, const std::string& route, const Bytes& frame,
               const std::shared_ptr<Outstanding>& outstanding);

/// A message as it came.
struct Incoming {
  std::string route;  ///< of a ROUTER
  std::string user;   ///< as our gate named the sender; empty on what we dialled
  int fd = -1;        ///< the descriptor it came through
  Bytes header;
  Bytes chunk;
  std::size_t parts = 0;    ///< frames behind the route
  std::uint64_t bytes = 0;  ///< in all of them
};
/// Takes the next message, if there is one.
bool receive_frames(Socket& socket, bool router, Incoming& incoming);

/// What libzmq says of a socket's connections.
struct SocketEvent {
  int kind = 0;   ///< ZMQ_EVENT_*
  int value = 0;  ///< a descriptor, an error or a status
};

/// A socket and the monitor of its connections.
class Plug {
 public:
  Plug(Socket socket, Socket monitor) : socket_(std::move(socket)), monitor_(std::move(monitor)) {}
  Plug(Plug&&) noexcept = default;
  Plug& operator=(Plug&&) noexcept = default;
  ~Plug() { close(); }

  [[nodiscard]] Socket& socket() { return socket_; }
  [[nodiscard]] Socket& monitor() { return monitor_; }
  std::optional<SocketEvent> next_event();
  /// What libzmq has not written is dropped.
  void close();

 private:
  Socket socket_;
  Socket monitor_;
};

/// Makes sockets with all the settings and limits of ours.
class Sockets {
 public:
  /// Errors: kConfig when libzmq was built without CURVE.
  static Result<std::unique_ptr<Sockets>> make(const Identity& identity, bool encrypted);

  /// The one bound socket. Errors: kNetwork, naming the port and who holds it.
  Result<Plug> listen(const std::string& host, std::uint16_t port);
  /// A socket that connects to one address of one peer. Errors: kNetwork (no more descriptors).
  Result<Plug> dial(const PeerId& peer, const CurveKey& key, const std::string& endpoint,
                    bool ipv6);
  [[nodiscard]] zmq::context_t& context() { return context_; }
  [[nodiscard]] bool encrypted() const { return encrypted_; }

 private:
  Sockets(const Identity& identity, bool encrypted);
  zmq::socket_t make_socket(zmq::socket_type type, bool ipv6);
  Plug monitored(zmq::socket_t socket);

  zmq::context_t context_;
  Identity identity_;
  bool encrypted_;
  std::uint64_t monitors_ = 0;
};

/// Whether the running libzmq links libsodium; its own cipher is 10 to 30 times slower.
bool libzmq_has_sodium();

}  // namespace shoal::comm
