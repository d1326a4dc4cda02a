// What a peer with a key that is allowed, but with code of its own, can do to us: nothing.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <zmq.hpp>

#include "comm/fd.h"
#include "comm/zmq/link.h"
#include "ops/base/rng.h"
#include "tests/comm/zmq/peers.h"
#include "tests/support/seed.h"

namespace shoal::comm {
namespace {

using tests::bulk;
using tests::join;
using tests::Peer;
using tests::ping;
using tests::run_until;

Bytes text(const std::string& words) { return Bytes::copy_of(std::as_bytes(std::span(words))); }

/// A raw ZeroMQ client under an identity that `victim` allows.
class Attacker {
 public:
  explicit Attacker(Peer& victim) {
    victim.endpoint->allow(identity.id(), {});
    socket_.set(zmq::sockopt::linger, 0);
    const auto set_key = [&](int option, const CurveKey& key) {
      REQUIRE(zmq_setsockopt(socket_.handle(), option, key.data(), key.size()) == 0);
    };
    set_key(ZMQ_CURVE_SERVERKEY, victim.identity.curve_public());
    set_key(ZMQ_CURVE_PUBLICKEY, identity.curve_public());
    set_key(ZMQ_CURVE_SECRETKEY, identity.curve_secret());
    socket_.connect("tcp://" + victim.addresses().front());
  }
  void send(const std::vector<Bytes>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::const_buffer(frames[i].data(), frames[i].size()),
                   i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void greet(Class cls = Class::kControl, std::uint64_t link = 1) {
    send({Greeting{link, cls}.encode()});
  }

  Identity identity = Identity::generate();

 private:
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
};

/// The endpoint still does its work for another.
void check_alive(Peer& victim, Peer& friendly) {
  friendly.events.clear();
  REQUIRE(victim.endpoint->send(friendly.id(), Class::kBulk, bulk(9, 300'000)) == SendResult::kOk);
  CHECK(run_until({&victim, &friendly}, [&] { return friendly.count<Arrived>() == 1; }));
}

TEST_CASE("zmq: hostile frames are dropped and counted by reason", "[zmq]") {
  Peer victim;
  Peer friendly;
  join(friendly, victim);
  Attacker attacker(victim);
  attacker.greet();
  REQUIRE(run_until({&victim}, [&] { return victim.count<Connected>() == 2; }));

  const Message message = bulk(1, 1000);
  const Bytes header = encode_header(message, 1000, 0);
  const auto expect = [&](const char* reason, const std::vector<Bytes>& frames) {
    INFO(reason);
    const std::size_t before = victim.dropped(reason);
    attacker.send(frames);
    CHECK(run_until({&victim}, [&] { return victim.dropped(reason) == before + 1; }));
    CHECK(victim.all<Dropped>().back().from == attacker.identity.id());
  };
  expect("truncated", {header.slice(0, 0)});
  expect("bad-header", {header.slice(0, header.size() / 2), message.payload});
  expect("bad-magic", {text("something else"), message.payload});
  expect("bad-payload", {header});  // its chunk is missing
  expect("bad-chunk", {encode_header(message, 1000, 500), message.payload.slice(500, 500)});
  expect("bad-parts", {header, message.payload, message.payload});
  expect("oversized", {header, bulk(1, limits::kChunkBytesMax + 1).payload});
  expect("oversized", {bulk(1, limits::kHeaderBytesMax + 1).payload, message.payload});
  CHECK(victim.count<Arrived>() == 0);
  // And a good one still passes.
  attacker.send({header, message.payload});
  CHECK(run_until({&victim}, [&] { return victim.count<Arrived>() == 1; }));
  check_alive(victim, friendly);
}

TEST_CASE("zmq: no flipped bit of a header does harm", "[zmq]") {
  Peer victim;
  Peer friendly;
  join(friendly, victim);
  Attacker attacker(victim);
  attacker.greet();
  const Message message = bulk(1, 1000);
  const Bytes header = encode_header(message, 1000, 0);
  Rng rng(shoal::tests::test_seed(3), 0);
  const std::size_t flips = 300;
  for (std::size_t i = 0; i < flips; ++i) {
    std::vector<std::byte> bad(header.span().begin(), header.span().end());
    bad[rng.below(bad.size())] ^= static_cast<std::byte>(1U << rng.below(8));
    attacker.send({Bytes(std::move(bad)), message.payload});
  }
  attacker.send({encode_header(ping(77), 0, 0)});
  // Some flips leave a valid header: a name, a number. The rest is dropped; the ping is the end.
  REQUIRE(run_until({&victim}, [&] {
    const auto arrived = victim.all<Arrived>();
    return !arrived.empty() && std::holds_alternative<Heartbeat>(arrived.back().message.body);
  }));
  CHECK(victim.count<Dropped>() > 0);
  CHECK(victim.count<Dropped>() + victim.count<Arrived>() <= flips + 1);
  check_alive(victim, friendly);
}

TEST_CASE("zmq: a frame beyond all bounds ends its connection only", "[zmq]") {
  Peer victim;
  Peer friendly;
  join(friendly, victim);
  Attacker attacker(victim);
  attacker.greet();
  REQUIRE(run_until({&victim}, [&] { return victim.count<Connected>() == 2; }));
  attacker.send({bulk(1, 8 << 20).payload});
  CHECK(run_until({&victim}, [&] { return victim.count<Closed>() == 1; }));
  check_alive(victim, friendly);
}

TEST_CASE("zmq: bad greetings open nothing", "[zmq]") {
  Peer victim;
  Peer friendly;
  join(friendly, victim);
  SECTION("other bytes") {
    Attacker attacker(victim);
    attacker.send({text("hello?")});
    CHECK(run_until({&victim}, [&] { return victim.dropped("bad-greeting") == 1; }));
    CHECK(victim.count<Connected>() == 1);
  }
  SECTION("bulk without control is no link") {
    Attacker attacker(victim);
    attacker.greet(Class::kBulk);
    attacker.send({encode_header(ping(1), 0, 0)});
    CHECK(run_until({&victim}, [&] { return victim.count<Arrived>() == 1; }));
    CHECK(victim.count<Connected>() == 1);
    CHECK(victim.endpoint->send(attacker.identity.id(), Class::kControl, ping(1)) ==
          SendResult::kUnreachable);
  }
  check_alive(victim, friendly);
}

TEST_CASE("zmq: bytes that are no ZeroMQ, and connections that say nothing", "[zmq]") {
  Peer victim;
  Peer friendly;
  join(friendly, victim);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(victim.endpoint->port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<Fd> sockets;
  for (std::size_t i = 0; i < limits::kStrangersMax + 20; ++i) {
    sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(sockets.back().get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  CHECK(run_until({&victim}, [&] { return victim.dropped("too-many") > 0; }));
  const std::string garbage(1000, 'G');
  REQUIRE(::send(sockets.front().get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) > 0);
  CHECK(run_until({&victim}, [&] { return victim.dropped("bad-handshake") > 0; }));
  sockets.clear();
  check_alive(victim, friendly);
}

}  // namespace
}  // namespace shoal::comm
