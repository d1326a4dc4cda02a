#include "comm/bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "comm/fd.h"
#include "comm/zmq_endpoint.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPiece = limits::kChunkBytesMax;

/// Keeps this thread, and those it starts, on one CPU.
class OneCpu {
 public:
  OneCpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(std::max(::sched_getcpu(), 0)), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

double rate(std::uint64_t bytes, Duration took) {
  return static_cast<double>(bytes) / std::max(1e-9, shoal::seconds(took));
}

/// Two ends of one TCP connection over loopback.
struct TcpPair {
  Fd in;
  Fd out;

  static Result<TcpPair> make() {
    const Fd door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    TcpPair pair;
    pair.out = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(door.get(), address, size) != 0 || ::listen(door.get(), 1) != 0 ||
        ::getsockname(door.get(), address, &size) != 0 ||
        ::connect(pair.out.get(), address, size) != 0) {
      return network_error(std::string("no TCP over loopback: ") + std::strerror(errno));
    }
    pair.in = Fd(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const int on = 1;
    ::setsockopt(pair.out.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return pair;
  }
};

Result<double> raw_tcp(std::uint64_t bytes, const Clock& clock) {
  SHOAL_ASSIGN(const TcpPair pair, TcpPair::make());
  const std::vector<std::byte> piece(kPiece, std::byte{1});
  std::vector<std::byte> room(kPiece);
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const TimePoint start = clock.now();
  while (received < bytes) {
    const std::size_t count = std::min<std::uint64_t>(kPiece, bytes - sent);
    const auto gone = ::send(pair.out.get(), piece.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
    sent += gone > 0 ? static_cast<std::uint64_t>(gone) : 0;
    const auto got = ::recv(pair.in.get(), room.data(), room.size(), MSG_DONTWAIT);
    received += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    if (gone < 0 && got < 0) {
      pollfd wanted{pair.in.get(), POLLIN, 0};
      ::poll(&wanted, 1, 1);
    }
  }
  return rate(bytes, clock.now() - start);
}

Result<double> endpoints(std::uint64_t bytes, bool encrypted, const Clock& clock) {
  const auto open = [&] {
    return ZmqEndpoint::open({.identity = Identity::generate(),
                              .listen = "127.0.0.1",
                              .port = 0,
                              .announce = {},
                              .insecure_loopback = !encrypted});
  };
  SHOAL_ASSIGN(const auto from, open());
  SHOAL_ASSIGN(const auto to, open());
  to->allow(from->self(), {});
  from->allow(to->self(), to->announced());

  Message message;
  Contribution body;
  body.granules = {0, 1};
  body.weights = {{body.granules, 1.0}};
  message.body = std::move(body);
  message.payload = Bytes(std::vector<std::byte>(kPiece, std::byte{1}));

  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  TimePoint start = clock.now();
  const TimePoint give_up = start + std::chrono::minutes(1);
  bool connected = false;
  while (received < bytes) {
    if (clock.now() > give_up) {
      return network_error("two endpoints on loopback did not get through in a minute");
    }
    for (const Event& event : from->take_events()) {
      if (std::holds_alternative<Connected>(event)) {
        connected = true;
        start = clock.now();
      }
    }
    // Little more than the window, so that what is measured is not our own queue.
    while (connected && sent < bytes && sent < received + 2 * limits::kLoopbackWindow &&
           from->send(to->self(), Class::kBulk, message) == SendResult::kOk) {
      sent += kPiece;
    }
    to->wait(to->now() + milliseconds(1));
    for (const Event& event : to->take_events()) {
      if (const auto* arrived = std::get_if<Arrived>(&event)) {
        received += arrived->message.payload.size();
      }
    }
  }
  return rate(bytes, clock.now() - start);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

Result<TransportFigures> bench_transport(std::uint64_t bytes, int turns) {
  const OneCpu one_cpu;
  const BootClock clock;
  const std::uint64_t whole = std::max<std::uint64_t>(bytes / kPiece, 1) * kPiece;
  std::vector<double> raw;
  std::vector<double> plain;
  std::vector<double> encrypted;
  for (int turn = 0; turn < std::max(turns, 1); ++turn) {
    SHOAL_ASSIGN(const double a, raw_tcp(whole, clock));
    SHOAL_ASSIGN(const double b, endpoints(whole, false, clock));
    SHOAL_ASSIGN(const double c, endpoints(whole, true, clock));
    raw.push_back(a);
    plain.push_back(b);
    encrypted.push_back(c);
  }
  return TransportFigures{median(std::move(raw)), median(std::move(plain)),
                          median(std::move(encrypted))};
}

}  // namespace shoal::comm
