#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "comm/endpoint.h"

namespace shoal::comm {

/// What protocols see of the network: peers whose hello was accepted, messages of this run that
/// are no replays. `Session` implements it over any Endpoint.
class Net {
 public:
  /// Gets every accepted message of the round kinds (Join to StateReply), and Bye.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void on_message(const PeerId& from, const Message& message) = 0;
    /// A peer became usable (hello accepted) or was found dead (silence, closed, left).
    virtual void on_alive(const PeerId& peer, bool alive) = 0;
  };

  virtual ~Net() = default;
  [[nodiscard]] virtual PeerId self() const = 0;
  /// Fills in run, session and sequence; the rest of the header is the caller's.
  virtual SendResult send(const PeerId& to, Class cls, Message message) = 0;
  [[nodiscard]] virtual bool alive(const PeerId& peer) const = 0;
  /// The session number of the peer's accepted hello; 0 when there is none.
  [[nodiscard]] virtual std::uint64_t session_of(const PeerId& peer) const = 0;
  [[nodiscard]] virtual std::uint64_t own_session() const = 0;
  /// Draws a new session number for ourselves (we re-enter as a joiner) and says hello again.
  virtual void renew_session() = 0;
  [[nodiscard]] virtual std::vector<PeerId> alive_peers() const = 0;
  /// Whether no bulk waits on its way to the peer: what it says it lacks is lost, not late.
  [[nodiscard]] virtual bool idle(const PeerId& peer) const = 0;
  /// Bytes/s of the link as its peer announced or we measured; 0 unknown.
  [[nodiscard]] virtual std::uint64_t rate_of(const PeerId& peer) const = 0;
  /// A message passed decode() but no honest peer would have sent it: count, penalise.
  virtual void penalise(const PeerId& peer, const std::string& reason) = 0;
  /// Something to count that costs the peer nothing ("stale-round", ...).
  virtual void count(const std::string& reason) = 0;
  virtual void set_receiver(Receiver* receiver) = 0;
};

}  // namespace shoal::comm
