#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include "comm/address.h"
#include "comm/fd.h"

namespace shoal::comm {
namespace {

namespace fs = std::filesystem;

/// The text of an IPv4 or IPv6 socket address; empty for others, and for link-local ones, which
/// mean nothing on another machine.
std::string host_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    if (IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr)) {
      return {};
    }
    ::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

/// The address that packets to `target` (of a documentation network, so "somewhere outside") would
/// leave from. Connecting a datagram socket asks the routing table and sends nothing.
std::string source_towards(int family, const char* target) {
  const Fd probe(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage to{};
  to.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(9);
    ::inet_pton(AF_INET, target, &in.sin_addr);
    std::memcpy(&to, &in, sizeof in);
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(9);
    ::inet_pton(AF_INET6, target, &in.sin6_addr);
    std::memcpy(&to, &in, sizeof in);
    size = sizeof in;
  }
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  if (!probe.valid() || ::connect(probe.get(), reinterpret_cast<sockaddr*>(&to), size) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&from), &from_size) != 0) {
    return {};
  }
  return host_text(reinterpret_cast<sockaddr*>(&from));
}

bool is_bridge(std::string_view interface) {
  for (const std::string_view prefix : {"docker", "br-", "veth", "virbr", "cni", "podman", "lxc"}) {
    if (interface.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> interface_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, &::freeifaddrs);
  std::vector<std::string> found;
  for (const ifaddrs* at = list.get(); at != nullptr; at = at->ifa_next) {
    const bool usable = at->ifa_addr != nullptr && (at->ifa_flags & IFF_UP) != 0 &&
                        (at->ifa_flags & IFF_LOOPBACK) == 0 && !is_bridge(at->ifa_name);
    if (std::string host = usable ? host_text(at->ifa_addr) : ""; !host.empty()) {
      found.push_back(std::move(host));
    }
  }
  return found;
}

/// The inode of the socket that listens on `port`, from /proc/net/tcp or tcp6; empty if none.
std::string listening_inode(const char* table, std::uint16_t port) {
  std::ifstream in(table);
  std::string line;
  std::getline(in, line);  // headings
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, skip, inode;
    fields >> slot >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) {
      fields >> skip;
    }
    fields >> inode;
    const auto colon = local.rfind(':');
    if (state == "0A" && colon != std::string::npos &&
        std::stoul("0" + local.substr(colon + 1), nullptr, 16) == port) {
      return inode;
    }
  }
  return {};
}

bool holds(const fs::path& process, const std::string& inode) {
  std::error_code code;
  for (fs::directory_iterator fd(process / "fd", code), end; !code && fd != end;
       fd.increment(code)) {
    std::error_code unreadable;
    if (fs::read_symlink(fd->path(), unreadable) == "socket:[" + inode + "]") {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> local_addresses(std::uint16_t port) {
  std::vector<std::string> hosts;
  for (std::string host :
       {source_towards(AF_INET, "192.0.2.1"), source_towards(AF_INET6, "2001:db8::1")}) {
    if (!host.empty()) {
      hosts.push_back(std::move(host));
    }
  }
  if (hosts.empty()) {
    hosts = interface_addresses();
  }
  if (hosts.empty()) {
    hosts.emplace_back("127.0.0.1");
  }
  std::vector<std::string> out;
  for (const std::string& host : hosts) {
    out.push_back(Address{host, port}.text());
  }
  return out;
}

std::string port_holder(std::uint16_t port) {
  std::string inode = listening_inode("/proc/net/tcp", port);
  if (inode.empty()) {
    inode = listening_inode("/proc/net/tcp6", port);
  }
  if (inode.empty()) {
    return {};
  }
  std::error_code code;
  for (fs::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    const std::string pid = at->path().filename();
    if (pid.find_first_not_of("0123456789") == std::string::npos && holds(at->path(), inode)) {
      std::ifstream comm(at->path() / "comm");
      std::string name;
      std::getline(comm, name);
      return name + " (pid " + pid + ")";
    }
  }
  return {};
}

}  // namespace shoal::comm
