#include "comm/zmq/tcp_info.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

namespace shoal::comm {
namespace {

/// Zeros when there is no connection, or an older kernel fills in less.
tcp_info info_of(const Fd& fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (!fd.valid() || ::getsockopt(fd.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return {};
  }
  return info;
}

std::uint64_t queued(const Fd& fd, unsigned long which) {
  int bytes = 0;
  if (!fd.valid() || ::ioctl(fd.get(), which, &bytes) != 0 || bytes < 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

TcpProbe TcpProbe::attach(int fd) {
  TcpProbe probe;
  probe.fd_ = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  return probe;
}

LinkStats TcpProbe::read() const {
  const tcp_info info = info_of(fd_);
  LinkStats stats;
  stats.bytes_sent = info.tcpi_bytes_acked;
  stats.bytes_received = info.tcpi_bytes_received;
  stats.round_trip = std::chrono::microseconds(info.tcpi_rtt);
  stats.delivery_rate = static_cast<double>(info.tcpi_delivery_rate);
  return stats;
}

TcpCounters TcpProbe::counters() const {
  const tcp_info info = info_of(fd_);
  return {info.tcpi_bytes_acked, std::chrono::microseconds(info.tcpi_min_rtt)};
}

Duration TcpProbe::silence() const {
  return std::chrono::milliseconds(info_of(fd_).tcpi_last_data_recv);
}

std::uint64_t TcpProbe::unacknowledged() const { return queued(fd_, SIOCOUTQ); }

std::uint64_t TcpProbe::unread() const { return queued(fd_, SIOCINQ); }

bool TcpProbe::loopback() const {
  sockaddr_storage other{};
  socklen_t size = sizeof other;
  if (!fd_.valid() || ::getpeername(fd_.get(), reinterpret_cast<sockaddr*>(&other), &size) != 0) {
    return false;
  }
  if (other.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &other, sizeof in);
    return (ntohl(in.sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &other, sizeof in);
  return other.ss_family == AF_INET6 &&
         (IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) ||
          (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr) && in.sin6_addr.s6_addr[12] == IN_LOOPBACKNET));
}

void TcpProbe::shut_down() const {
  if (fd_.valid()) {
    ::shutdown(fd_.get(), SHUT_RDWR);
  }
}

}  // namespace shoal::comm
