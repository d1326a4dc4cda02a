#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/address.h"
#include "comm/endpoint.h"
#include "comm/identity.h"
#include "comm/limits.h"

namespace shoal::comm {

/// The real world: encrypted ZeroMQ links over one port. Each pair of peers has a link of two
/// connections, one a class, made by whichever of them can dial; the sender of every frame is the
/// key that the connection was opened with.
class ZmqEndpoint final : public Endpoint {
 public:
  struct Options {
    Identity identity;
    /// Where to listen: one numeric address. "::" is every address, IPv4 ones too; where the
    /// system has no IPv6 it becomes "0.0.0.0".
    std::string listen = "::";
    std::uint16_t port = kDefaultPort;  ///< 0: the system chooses
    /// What we tell others; empty: `local_addresses()`.
    std::vector<std::string> announce;
    /// No encryption, and no proof of who dials: for measurements on loopback only.
    bool insecure_loopback = false;
    std::uint64_t payload_bytes_max = limits::kPayloadBytesMax;
    /// What we send to all peers together: bulk waits, control goes and makes bulk wait longer.
    /// Units: bytes/s on the wire; 0 no bound.
    std::uint64_t rate_up = 0;
    /// What all peers together send us, by credit that we grant them. Units: as `rate_up`.
    std::uint64_t rate_down = 0;
  };

  /// Errors: kNetwork when the port is taken (naming who holds it) or the address is not ours;
  /// kConfig when encryption is missing, or switched off for more than loopback.
  static Result<std::unique_ptr<ZmqEndpoint>> open(Options options);
  ~ZmqEndpoint() override;

  /// The port that was bound.
  [[nodiscard]] std::uint16_t port() const;
  /// host:port where others may reach us, as told by the options or found by the routing table.
  [[nodiscard]] const std::vector<std::string>& announced() const;

  [[nodiscard]] PeerId self() const override;
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] bool virtual_time() const override { return false; }
  void allow(const PeerId& peer, const std::vector<std::string>& addresses) override;
  void forget(const PeerId& peer) override;
  SendResult send(const PeerId& to, Class cls, Message message) override;
  [[nodiscard]] bool room(const PeerId& to, std::uint64_t bytes) const override;
  std::vector<Event> take_events() override;
  void wait(TimePoint deadline) override;
  void wake() override;
  [[nodiscard]] LinkStats stats(const PeerId& peer) const override;
  [[nodiscard]] LinkStats totals() const override;
  void close(Duration linger) override;

 private:
  class Impl;
  explicit ZmqEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::comm
