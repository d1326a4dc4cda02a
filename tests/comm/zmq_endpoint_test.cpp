#include "comm/zmq_endpoint.h"

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
using tests::same;

constexpr std::size_t kChunk = limits::kChunkBytesMax;

TEST_CASE("zmq: messages of all sizes pass both ways though only one side dials", "[zmq]") {
  for (const bool insecure : {false, true}) {
    INFO("insecure " << insecure);
    Peer a(Identity::generate(), 0, insecure);
    Peer b(Identity::generate(), 0, insecure);
    join(a, b);
    const std::vector<std::size_t> sizes = {0, 1, kChunk - 1, kChunk, kChunk + 1, 5 << 20};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CHECK(a.endpoint->send(b.id(), Class::kBulk, bulk(i, sizes[i])) == SendResult::kOk);
      CHECK(b.endpoint->send(a.id(), Class::kBulk, bulk(i, sizes[i])) == SendResult::kOk);
      CHECK(a.endpoint->send(b.id(), Class::kControl, ping(i)) == SendResult::kOk);
      CHECK(b.endpoint->send(a.id(), Class::kControl, ping(i)) == SendResult::kOk);
    }
    REQUIRE(run_until({&a, &b}, [&] {
      return a.count<Arrived>() == 2 * sizes.size() && b.count<Arrived>() == 2 * sizes.size();
    }));
    for (const Peer* peer : {&a, &b}) {
      std::size_t bulks = 0;
      std::size_t pings = 0;
      for (const Arrived& arrived : peer->all<Arrived>()) {
        CHECK(arrived.from == (peer == &a ? b : a).id());
        if (arrived.cls == Class::kControl) {
          CHECK(std::get<Heartbeat>(arrived.message.body).nonce == pings++);
        } else {
          CHECK(same(arrived.message.payload.span(), bulk(bulks, sizes[bulks]).payload.span()));
          ++bulks;
        }
      }
      CHECK(pings == sizes.size());
      CHECK(bulks == sizes.size());
      CHECK(peer->count<Connected>() == 1);
      CHECK(peer->count<Dropped>() == 0);
    }
  }
}

TEST_CASE("zmq: two that dial each other end up with one link each way of thinking", "[zmq]") {
  Peer a;
  Peer b;
  a.endpoint->allow(b.id(), b.addresses());
  b.endpoint->allow(a.id(), a.addresses());
  REQUIRE(run_until({&a, &b}, [&] { return a.count<Connected>() && b.count<Connected>(); }));
  a.endpoint->send(b.id(), Class::kBulk, bulk(1, 100'000));
  b.endpoint->send(a.id(), Class::kBulk, bulk(1, 100'000));
  REQUIRE(run_until({&a, &b}, [&] { return a.count<Arrived>() && b.count<Arrived>(); }));
  CHECK(a.count<Closed>() == 0);
  CHECK(b.count<Closed>() == 0);
}

TEST_CASE("zmq: an unknown key is refused, counted, and told so in words", "[zmq]") {
  Peer a;
  Peer stranger;
  stranger.endpoint->allow(a.id(), a.addresses());
  REQUIRE(run_until({&a, &stranger}, [&] {
    return a.dropped("unknown-key") > 0 && stranger.count<DialFailed>() > 0;
  }));
  CHECK(a.count<Connected>() == 0);
  CHECK(stranger.count<Connected>() == 0);
  CHECK(a.all<Dropped>().front().from == PeerId{});
  const auto failure = stranger.all<DialFailed>().front();
  CHECK(failure.peer == a.id());
  CHECK(failure.sentence.find("refuses our key") != std::string::npos);
  // Allowed later, it gets in by itself.
  a.endpoint->allow(stranger.id(), {});
  CHECK(run_until({&a, &stranger}, [&] { return stranger.count<Connected>() > 0; }));
}

TEST_CASE("zmq: failures of dialling are told apart", "[zmq]") {
  Peer a;
  Peer b;
  Peer other;
  // Nobody there: b's port after b has gone.
  const auto nobody = b.addresses();
  b.endpoint->close(Duration{0});
  a.endpoint->allow(b.id(), nobody);
  REQUIRE(run_until({&a}, [&] { return a.count<DialFailed>() > 0; }));
  CHECK(a.all<DialFailed>().back().sentence.find("does not answer") != std::string::npos);
  CHECK(a.all<DialFailed>().back().address == nobody.front());
  // Somebody else there.
  a.events.clear();
  other.endpoint->allow(a.id(), {});
  a.endpoint->allow(b.id(), other.addresses());
  REQUIRE(run_until({&a, &other}, [&] { return a.count<DialFailed>() > 0; }));
  CHECK(a.all<DialFailed>().back().sentence.find("is not who answers") != std::string::npos);
  CHECK(run_until({&a, &other}, [&] { return other.dropped("bad-handshake") > 0; }));
  // No address at all.
  a.events.clear();
  a.endpoint->allow(b.id(), {"what is this"});
  REQUIRE(run_until({&a}, [&] { return a.count<DialFailed>() > 0; }));
  CHECK(a.all<DialFailed>().back().sentence.find("no address") != std::string::npos);
}

TEST_CASE("zmq: the second address is tried when the first leads nowhere", "[zmq]") {
  Peer a;
  Peer b;
  b.endpoint->allow(a.id(), {});
  a.endpoint->allow(b.id(), {"127.0.0.1:1", b.addresses().front()});
  CHECK(run_until({&a, &b}, [&] { return a.count<Connected>() > 0; }));
}

TEST_CASE("zmq: a taken port is named with its holder", "[zmq]") {
  Peer a;
  const auto again = ZmqEndpoint::open({.identity = Identity::generate(),
                                        .listen = "127.0.0.1",
                                        .port = a.endpoint->port(),
                                        .announce = {}});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == Code::kNetwork);
  CHECK(again.error().message.find(std::to_string(a.endpoint->port())) != std::string::npos);
  CHECK(again.error().message.find("pid " + std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("zmq: encryption is switched off on loopback only", "[zmq]") {
  const auto opened = ZmqEndpoint::open({.identity = Identity::generate(),
                                         .listen = "0.0.0.0",
                                         .port = 0,
                                         .announce = {},
                                         .insecure_loopback = true});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == Code::kConfig);
  Peer a(Identity::generate(), 0, true);
  a.endpoint->allow(Identity::generate().id(), {"192.0.2.1:47700"});
  REQUIRE(run_until({&a}, [&] { return a.count<DialFailed>() > 0; }));
  CHECK(a.all<DialFailed>().front().sentence.find("without encryption") != std::string::npos);
}

TEST_CASE("zmq: a peer that comes back under its identity is connected again", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  const std::uint16_t port = b.endpoint->port();
  SECTION("the one that was dialled") {
    b.endpoint.reset();
    REQUIRE(run_until({&a}, [&] { return a.count<Closed>() == 1; }));
    CHECK(a.endpoint->send(b.id(), Class::kControl, ping(1)) == SendResult::kUnreachable);
    b.open(port, false);
    b.endpoint->allow(a.id(), {});
    REQUIRE(run_until({&a, &b}, [&] { return a.count<Connected>() == 2 && b.count<Connected>(); }));
  }
  SECTION("the one that dials") {
    a.endpoint.reset();
    a.open(0, false);
    a.endpoint->allow(b.id(), b.addresses());
    REQUIRE(run_until({&a, &b}, [&] { return b.count<Connected>() == 2 && a.count<Connected>(); }));
    CHECK(b.count<Closed>() == 1);
  }
  a.endpoint->send(b.id(), Class::kControl, ping(7));
  b.endpoint->send(a.id(), Class::kControl, ping(8));
  CHECK(run_until({&a, &b}, [&] { return a.count<Arrived>() && b.count<Arrived>(); }));
}

TEST_CASE("zmq: a forgotten peer is cut off and refused", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  b.endpoint->forget(a.id());
  CHECK(b.endpoint->send(a.id(), Class::kControl, ping(1)) == SendResult::kUnreachable);
  REQUIRE(
      run_until({&a, &b}, [&] { return a.count<Closed>() > 0 && b.dropped("unknown-key") > 0; }));
  CHECK(b.count<Closed>() == 1);
  CHECK(b.count<Connected>() == 1);
}

TEST_CASE("zmq: bytes come from the connection", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  const std::size_t payload = 20 << 20;
  a.endpoint->send(b.id(), Class::kBulk, bulk(1, payload));
  REQUIRE(run_until({&a, &b}, [&] { return b.count<Arrived>() == 1; }));
  const auto near = [&](std::uint64_t bytes) {
    // 33 bytes of CURVE, 9 of ZMTP and a header of some 100 a chunk of 256 KiB: far below 1 %.
    return static_cast<double>(bytes) > 0.99 * static_cast<double>(payload) &&
           static_cast<double>(bytes) < 1.05 * static_cast<double>(payload);
  };
  // The last acknowledgement may be under way.
  CHECK(run_until({&a, &b}, [&] { return near(a.endpoint->stats(b.id()).bytes_sent); }));
  CHECK(near(b.endpoint->stats(a.id()).bytes_received));
  CHECK(near(b.endpoint->totals().bytes_received));
  CHECK(a.endpoint->stats(b.id()).round_trip > Duration{0});
  CHECK(a.endpoint->stats(b.id()).delivery_rate > 0);
  // And they are not lost with it.
  b.endpoint.reset();
  REQUIRE(run_until({&a}, [&] { return a.count<Closed>() == 1; }));
  CHECK(near(a.endpoint->stats(b.id()).bytes_sent));
  CHECK(near(a.endpoint->totals().bytes_sent));
  a.endpoint->close(Duration{0});
  CHECK(near(a.endpoint->totals().bytes_sent));
}

TEST_CASE("zmq: a ping overtakes the bulk that was queued before it", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  // Far more than any window, so that most of it waits when the ping is sent.
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE(a.endpoint->send(b.id(), Class::kBulk, bulk(i, 32 << 20)) == SendResult::kOk);
  }
  REQUIRE(a.endpoint->send(b.id(), Class::kControl, ping(1)) == SendResult::kOk);
  REQUIRE(run_until({&a, &b}, [&] { return b.count<Arrived>() == 5; }));
  std::size_t place = 0;
  for (const Arrived& arrived : b.all<Arrived>()) {
    if (arrived.cls == Class::kControl) {
      break;
    }
    ++place;
  }
  CHECK(place == 0);
}

TEST_CASE("zmq: a full queue refuses and takes again", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  const std::uint64_t payload = limits::kBulkQueueBytesMax / 4;
  const Message message = bulk(1, payload);
  std::size_t taken = 0;
  while (taken < 20 && a.endpoint->send(b.id(), Class::kBulk, message) == SendResult::kOk) {
    ++taken;
  }
  CHECK(taken >= 4);
  CHECK(taken <= 5);
  CHECK_FALSE(a.endpoint->room(b.id(), payload));
  CHECK(a.endpoint->send(b.id(), Class::kControl, ping(1)) == SendResult::kOk);
  REQUIRE(run_until({&a, &b}, [&] { return b.count<Arrived>() == taken + 1; }));
  CHECK(a.endpoint->room(b.id(), payload));
}

TEST_CASE("zmq: close sends what was queued", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  // Both connections stand once something came over each.
  a.endpoint->send(b.id(), Class::kBulk, bulk(0, 1));
  REQUIRE(run_until({&a, &b}, [&] { return b.count<Arrived>() == 1; }));
  // More than a window, less than libzmq takes at the other end while nobody asks for it.
  a.endpoint->send(b.id(), Class::kBulk, bulk(1, 2 * limits::kLoopbackWindow));
  a.endpoint->send(b.id(), Class::kControl, ping(1));
  a.endpoint->close(seconds(30));
  CHECK(run_until({&b}, [&] { return b.count<Arrived>() == 3; }));
}

TEST_CASE("zmq: close ends within its linger though nobody reads", "[zmq]") {
  Peer a;
  Peer b;
  join(a, b);
  for (std::uint64_t i = 0; i < 3; ++i) {
    a.endpoint->send(b.id(), Class::kBulk, bulk(i, 60 << 20));
  }
  const TimePoint start = a.endpoint->now();
  a.endpoint->close(milliseconds(300));
  // Twice the linger for libzmq's own, and as much again as any machine takes.
  CHECK(b.endpoint->now() - start < seconds(30));
}

TEST_CASE("zmq: wait ends by its deadline and by wake", "[zmq]") {
  Peer a;
  const TimePoint start = a.endpoint->now();
  a.endpoint->wait(start + milliseconds(30));
  CHECK(a.endpoint->now() - start >= milliseconds(30));
  a.endpoint->wake();
  a.endpoint->wait(kNever);
  CHECK(a.endpoint->take_events().empty());
}

}  // namespace
}  // namespace shoal::comm
