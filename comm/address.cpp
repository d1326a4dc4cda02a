#include "comm/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace shoal::comm {
namespace {

constexpr std::size_t kHostBytesMax = 253;

bool is_numeric(int family, const std::string& host) {
  std::array<unsigned char, 16> out{};
  return ::inet_pton(family, host.c_str(), out.data()) == 1;
}

Error bad(std::string_view text, const char* what) {
  return config_error("\"" + std::string(text.substr(0, kHostBytesMax)) +
                      "\" is no address: " + what + "; write host:port or [v6]:port");
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (code != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

std::string Address::text() const {
  return (is_v6() ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

bool Address::numeric() const { return is_v6() || is_numeric(AF_INET, host); }

bool Address::loopback() const {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && is_numeric(AF_INET, host));
}

Result<Address> parse_address(std::string_view text) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) {
      return bad(text, "a bracket is missing");
    }
    host = text.substr(1, end - 1);
    const auto rest = text.substr(end + 1);
    if (!rest.empty()) {
      if (rest.front() != ':') {
        return bad(text, "a colon must follow the bracket");
      }
      port = rest.substr(1);
    }
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const auto colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  Address address{std::string(host), kDefaultPort};
  if (port) {
    const auto number = read_port(*port);
    if (!number) {
      return bad(text, "the port must be a number up to 65535");
    }
    address.port = *number;
  }
  const bool letters = std::all_of(host.begin(), host.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
  });
  const bool fits = !host.empty() && host.size() <= kHostBytesMax;
  if (!fits || !(letters || is_numeric(AF_INET6, address.host))) {
    return bad(text, "the host must be a name or a numeric address");
  }
  return address;
}

}  // namespace shoal::comm
