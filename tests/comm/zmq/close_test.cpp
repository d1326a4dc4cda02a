// What closing owes to those that are there, and not to those that are gone.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>

#include "comm/fd.h"
#include "comm/workers.h"
#include "comm/zmq/link.h"
#include "tests/comm/zmq/peers.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::bulk;
using tests::join;
using tests::Peer;
using tests::ping;
using tests::run_until;

void pause_ms(int ms) { ::poll(nullptr, 0, ms); }

std::string sized(const std::string& text) {
  return std::string(1, static_cast<char>(text.size())) + text;
}

/// One connection to an unencrypted endpoint that speaks ZMTP 3.0 with PLAIN by hand, so that what
/// is read of it, and when, is the test's choice.
class RawConnection {
 public:
  RawConnection(Peer& to, const PeerId& self, Class cls)
      : to_(to), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int room = 16 << 10;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(to.endpoint->port());
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
    std::string hello =
        std::string("\xff", 1) + std::string(8, '\0') + "\x7f\x03" + std::string(1, '\0') + "PLAIN";
    hello.resize(64, '\0');
    send(hello + command(sized("HELLO") + sized(self.hex()) + sized("-")));
    await("WELCOME");
    send(
        command(sized("INITIATE") + sized("Socket-Type") + std::string(3, '\0') + sized("DEALER")));
    await("READY");
    const Bytes greeting = Greeting{1, cls, 0}.encode();
    message(std::string(reinterpret_cast<const char*>(greeting.data()), greeting.size()));
  }

  void message(const std::string& body) { send(std::string(1, '\0') + sized(body)); }
  /// All that comes until the other side closes, bytes.
  std::size_t read_to_end() {
    std::vector<char> room(1 << 16);
    std::size_t sum = 0;
    for (;;) {
      const auto got = ::recv(fd_.get(), room.data(), room.size(), 0);
      if (got <= 0) {
        return sum;
      }
      sum += static_cast<std::size_t>(got);
    }
  }

 private:
  static std::string command(const std::string& body) { return "\x04" + sized(body); }
  void send(const std::string& bytes) {
    REQUIRE(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void await(const std::string& word) {
    std::string had;
    REQUIRE(run_until({&to_}, [&] {
      char room[256];
      const auto got = ::recv(fd_.get(), room, sizeof room, MSG_DONTWAIT);
      had.append(room, got > 0 ? static_cast<std::size_t>(got) : 0);
      return had.find(word) != std::string::npos;
    }));
  }

  Peer& to_;
  Fd fd_;
};

TEST_CASE("zmq: close waits until its peer's kernel has all, though the peer goes on sending",
          "[zmq]") {
  Peer a(Identity::generate(), 0, true);
  const PeerId id = Identity::generate().id();
  a.endpoint->allow(id, {});
  const RawConnection control(a, id, Class::kControl);
  RawConnection other(a, id, Class::kBulk);
  REQUIRE(run_until({&a}, [&] { return a.count<Connected>() == 1; }));
  // Less than a window: nothing waits in our own queue, all is with the kernel.
  const std::size_t payload = 3 * limits::kChunkBytesMax;
  REQUIRE(a.endpoint->send(id, Class::kBulk, bulk(1, payload)) == SendResult::kOk);
  run_until(
      {&a}, [] { return false; }, milliseconds(50));

  ThreadWorkers workers;
  std::atomic<bool> closed{false};
  workers.post(
      Offload::kIo, [&] { a.endpoint->close(seconds(60)); }, [&] { closed = true; });
  for (int i = 0; i < 20 && !closed; ++i) {
    pause_ms(10);
  }
  CHECK_FALSE(closed);
  // A kernel that gets this for a closed connection drops what it had not sent.
  other.message("anything");
  pause_ms(20);
  CHECK(other.read_to_end() > payload);
  for (int i = 0; i < 3000 && !closed; ++i) {
    pause_ms(10);
  }
  CHECK(closed);
}

TEST_CASE("zmq: close does not wait for a peer that is gone", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  a.endpoint->send(b.id(), Class::kBulk, bulk(0, 1));
  REQUIRE(run_until({&a, &b}, [&] { return b.count<Arrived>() == 1; }));
  b.endpoint.reset();
  pause_ms(50);  // libzmq's thread knows of it, and we have not looked
  REQUIRE(a.endpoint->send(b.id(), Class::kControl, ping(1)) == SendResult::kOk);
  const BootClock clock;
  const TimePoint start = clock.now();
  a.endpoint->close(seconds(60));
  CHECK(clock.now() - start < seconds(30));
}

}  // namespace
}  // namespace shoal::comm
