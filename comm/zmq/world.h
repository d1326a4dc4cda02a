#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/zmq/door.h"
#include "comm/zmq/gate.h"
#include "comm/zmq/remote.h"
#include "comm/zmq_endpoint.h"

namespace shoal::comm {

/// What is behind ZmqEndpoint. One turn (`pump`) looks at everything once without blocking:
/// handshakes, connections, messages, ended links, dialling, then sends what the windows allow.
class ZmqEndpoint::Impl {
 public:
  Impl(Options options, std::unique_ptr<Sockets> sockets, Gate gate, Plug door, std::uint16_t port);
  ~Impl();

  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  void allow(const PeerId& peer, const std::vector<std::string>& addresses);
  void forget(const PeerId& peer);
  SendResult send(const PeerId& to, Class cls, Message message);
  [[nodiscard]] bool room(const PeerId& to, std::uint64_t bytes) const;
  std::vector<Event> take_events();
  void wait(TimePoint deadline);
  void wake();
  [[nodiscard]] LinkStats stats(const PeerId& peer) const;
  [[nodiscard]] LinkStats totals() const;
  void close(Duration linger);

  Options options;
  std::uint16_t port;

 private:
  // world.cpp: one turn, and what is waited for
  void pump();
  void poll(TimePoint until);
  [[nodiscard]] TimePoint next_timer() const;
  bool receive_all();
  void dropped(const PeerId& from, std::string reason, std::string sentence);

  // world_links.cpp: connections become links, links become a usable peer
  [[nodiscard]] Door::Told door_told();
  [[nodiscard]] Dialler::Tools tools();
  Remote* find(const PeerId& peer);
  void greet(Connection& connection, const Incoming& incoming);
  void on_up(Remote& remote, Link& link);
  void activate(Remote& remote, Link* link);
  void activate_other(Remote& remote);
  void end_links(TimePoint now);
  void look_for_end(Link& link);
  void drop_accepted(Remote& remote, Link& link);
  void drop_dialled(Remote& remote, TimePoint now);
  void on_dialler(Remote& remote, const Dialler::Seen& seen, TimePoint now);
  void run_diallers(TimePoint now);
  void count(Remote* remote, Connection& connection);
  void watch_unread(TimePoint now);

  // world_close.cpp
  bool delivered(Connection* connection);
  bool busy(Remote& remote);

  // world_frames.cpp: frames in, frames out
  void on_message(Connection& connection, Incoming& incoming);
  bool on_endpoint_frame(Connection& connection, const Incoming& incoming);
  void feed_control(Remote& remote);
  void feed_bulk(TimePoint now);
  bool feed_bulk(Remote& remote, TimePoint now, int frames_max);
  [[nodiscard]] bool allowed(Remote& remote, const SendQueue::Piece& piece, TimePoint now);
  bool tell(Link& link, const Credit& credit);
  void grant(TimePoint now);
  bool grant(Link& link, TimePoint now);

  BootClock clock_;
  std::shared_ptr<const Waker> waker_;
  std::atomic<bool> woken_{false};
  std::unique_ptr<Sockets> sockets_;
  Gate gate_;
  Door door_;
  std::map<PeerId, Remote> remotes_;
  std::vector<Event> events_;
  Bucket up_;
  Bucket down_;
  PeerId served_;   ///< the last whose bulk took from `up_`
  PeerId granted_;  ///< the last that was granted of `down_`
  LinkStats past_;  ///< of all connections that are over
  TimePoint feed_again_ = kNever;
  TimePoint end_again_ = kNever;
  TimePoint watch_again_;
  bool open_ = true;
};

}  // namespace shoal::comm
