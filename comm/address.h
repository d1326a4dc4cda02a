#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/base/result.h"

namespace shoal::comm {

inline constexpr std::uint16_t kDefaultPort = 47700;

/// Where a peer listens: a name or a numeric address, and a port.
struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port = kDefaultPort;

  /// "host:port", "[v6]:port".
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_v6() const { return host.find(':') != std::string::npos; }
  /// Digits rather than a name.
  [[nodiscard]] bool numeric() const;
  /// 127.0.0.0/8, ::1 or "localhost".
  [[nodiscard]] bool loopback() const;

  friend bool operator==(const Address&, const Address&) = default;
};

/// Reads "host", "host:port", "v6" or "[v6]:port"; names are letters, digits, dots and hyphens.
/// Errors: kConfig.
Result<Address> parse_address(std::string_view text);

/// The addresses of this machine worth announcing: those that packets to the outside would leave
/// from, so that neither loopback nor a container bridge is announced. Without a route outside,
/// those of interfaces that are up and no bridges; on a machine of its own, loopback.
std::vector<std::string> local_addresses(std::uint16_t port);

/// Who listens on a TCP port of this machine, as "name (pid 123)"; empty when /proc does not say.
std::string port_holder(std::uint16_t port);

}  // namespace shoal::comm
