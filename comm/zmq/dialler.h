#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/address.h"
#include "comm/zmq/link.h"

namespace shoal::comm {

/// A link that we dialled: its two sockets, each for one connection only.
struct DialledLink : Link {
  using Link::Link;

  std::array<std::optional<Plug>, 2> plugs;
  std::array<std::optional<Connection>, 2> own;
};

/// Makes links to one peer: one address after the other, names by IPv6 and by IPv4, waiting longer
/// after each round of them.
class Dialler {
 public:
  Dialler(const PeerId& self, const PeerId& peer, const CurveKey& key, bool encrypted)
      : peer_(peer), key_(key), encrypted_(encrypted), yields_(peer < self) {}

  struct Tools {
    Sockets& sockets;
    std::shared_ptr<const Waker> waker;
    std::uint64_t payload_bytes_max;
    std::uint64_t rate_down;
  };
  /// What one look at the sockets showed.
  struct Seen {
    bool up = false;                     ///< control became usable
    std::optional<std::string> failure;  ///< the attempt failed; in words, said once
    std::string address;                 ///< of the failure
    bool failed = false;                 ///< the link is to be dropped
  };

  /// Replaces the addresses; addresses that cannot be are reported by the next attempts.
  void set_addresses(const std::vector<std::string>& addresses, TimePoint now);
  /// Starts an attempt if one is due. `connected`: another link stands, so none is needed.
  Seen run(TimePoint now, bool connected, const Tools& tools);
  /// Reads what became of the sockets' connections.
  Seen read_events(TimePoint now, const Tools& tools);
  /// Drops the link and what it has not sent.
  void drop(TimePoint now);
  /// Closes the link's sockets.
  void close();

  [[nodiscard]] DialledLink* link() { return link_.get(); }
  [[nodiscard]] const DialledLink* link() const { return link_.get(); }
  /// When `run` wants to be called next.
  [[nodiscard]] TimePoint due() const;

 private:
  struct Target {
    Address address;
    bool ipv6 = false;
    [[nodiscard]] std::string endpoint() const { return "tcp://" + address.text(); }
  };

  Seen fail(TimePoint now, const std::string& sentence);
  Seen on_event(Class cls, const SocketEvent& event, TimePoint now, const Tools& tools);
  Status open(Class cls, const Tools& tools);

  PeerId peer_;
  CurveKey key_;
  bool encrypted_;
  bool yields_;  ///< the smaller id dials first, so that two that know each other make one link
  std::vector<Target> targets_;
  std::vector<std::string> bad_addresses_;
  std::size_t next_ = 0;
  Duration wait_{0};
  TimePoint when_ = kNever;
  TimePoint give_up_ = kNever;
  std::set<std::string> said_;  ///< since the last success
  std::unique_ptr<DialledLink> link_;
};

}  // namespace shoal::comm
