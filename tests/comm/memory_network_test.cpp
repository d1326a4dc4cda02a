#include "comm/memory_network.h"

#include <iostream>

#include "comm/limits.h"
#include "tests/comm/wire/samples.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::comm::tests {
namespace {

using std::chrono::milliseconds;

TimePoint at(int ms) { return {milliseconds(ms)}; }

Message numbered(std::uint64_t number) {
  Message m;
  m.header.sequence = number;
  m.body = StateRequest{};
  return m;
}

/// Says what happens to it: "b+" connected, "b-" closed, "b7" message 7, each with its time.
struct Listener {
  Listener(MemoryNetwork& net, std::uint8_t own)
      : network(net), number(own), endpoint(net.add(sample_peer(own))), loop(endpoint, nullptr) {
    net.attach(sample_peer(own), loop);
    loop.set_event_handler([this](Event& event) { hear(event); });
  }
  void hear(const Event& event) {
    std::string word;
    if (const auto* arrived = std::get_if<Arrived>(&event)) {
      word = name(arrived->from) + std::to_string(arrived->message.header.sequence);
    } else if (const auto* connected = std::get_if<Connected>(&event)) {
      word = name(connected->peer) + "+";
    } else if (const auto* closed = std::get_if<Closed>(&event)) {
      word = name(closed->peer) + "-";
    } else if (const auto* dropped = std::get_if<Dropped>(&event)) {
      word = dropped->reason;
    } else {
      word = std::get<DialFailed>(event).sentence.substr(0, 7);
    }
    trace.push_back(word + "@" + std::to_string(loop.now().since_start / milliseconds(1)));
  }
  static std::string name(const PeerId& id) {
    return std::string(1, static_cast<char>('a' + static_cast<int>(id.key[0]) - 1));
  }
  SendResult send(std::uint8_t to, std::uint64_t message, Class cls = Class::kControl) {
    return endpoint.send(sample_peer(to), cls, numbered(message));
  }
  void allow(std::uint8_t peer, bool dial = true) {
    endpoint.allow(sample_peer(peer),
                   dial ? std::vector<std::string>{"memory:1"} : std::vector<std::string>{});
  }
  std::vector<std::string> take() { return std::exchange(trace, {}); }

  MemoryNetwork& network;
  std::uint8_t number;
  Endpoint& endpoint;
  Loop loop;
  std::vector<std::string> trace;
};

using Trace = std::vector<std::string>;

/// Two peers that stand connected at 10 ms.
struct Two {
  explicit Two(const MemoryNetwork::Options& options = {}) : network(options) {
    a.allow(2);
    b.allow(1, false);
    network.run_until(at(10));
    CHECK(a.take() == Trace{"b+@10"});
    CHECK(b.take() == Trace{"a+@10"});
  }
  MemoryNetwork network;
  Listener a{network, 1};
  Listener b{network, 2};
};

}  // namespace

TEST_CASE("peers connect when both allow it and one dials") {
  MemoryNetwork network({});
  Listener a(network, 1);
  Listener b(network, 2);
  a.allow(2, false);
  b.allow(1, false);
  network.run_until(at(100));
  CHECK(a.take().empty());
  CHECK(a.send(2, 1) == SendResult::kUnreachable);
  b.allow(1);
  network.run_until(at(200));
  CHECK(a.take() == Trace{"b+@110"});
  CHECK(b.take() == Trace{"a+@110"});
  CHECK(a.send(2, 1) == SendResult::kOk);
  CHECK(a.send(3, 1) == SendResult::kUnreachable);
}

TEST_CASE("a dial that leads nowhere is said once, in words") {
  MemoryNetwork network({});
  Listener a(network, 1);
  a.allow(2);
  network.run_until(at(5000));
  CHECK(a.take() == Trace{"unreach@1000"});
  Listener b(network, 2);
  a.allow(2);
  network.run_until(at(10000));
  CHECK(a.take() == Trace{"refused@6000"});
  b.allow(1, false);
  network.run_until(at(20000));
  CHECK(a.take() == Trace{"b+@10010"});
}

TEST_CASE("messages keep their order on a lane; control does not wait for bulk") {
  MemoryNetwork::Options options;
  options.link.rate = 1e4;
  options.link.jitter = milliseconds(5);
  Two w(options);
  Message bulk = sample_messages()[7];
  bulk.payload = sample_bytes(1000);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    bulk.header.sequence = i;
    CHECK(w.a.endpoint.send(sample_peer(2), Class::kBulk, bulk) == SendResult::kOk);
  }
  for (std::uint64_t i = 4; i <= 20; ++i) {
    CHECK(w.a.send(2, i) == SendResult::kOk);
  }
  w.network.run_until(at(1000));
  const Trace trace = w.b.take();
  REQUIRE(trace.size() == 20);
  for (std::size_t i = 0; i < 17; ++i) {
    CHECK(trace[i].starts_with("a" + std::to_string(i + 4) + "@"));
  }
  // Three messages of 1,000 bytes and headers at 10 kB/s take at least 300 ms.
  CHECK(trace[17].starts_with("a1@"));
  CHECK(trace[19].starts_with("a3@"));
  CHECK(std::stoi(trace[19].substr(3)) >= 320);
  CHECK(w.a.endpoint.stats(sample_peer(2)).bytes_sent > 3000);
  CHECK(w.b.endpoint.totals().bytes_received == w.a.endpoint.totals().bytes_sent);
}

TEST_CASE("a peer's own rates bound what it sends to all, and what all send to it") {
  MemoryNetwork::Options options;
  options.codec = false;  // a message then counts as its payload and 200 bytes
  MemoryNetwork network(options);
  Listener a(network, 1);
  Listener b(network, 2);
  Listener c(network, 3);
  a.allow(2);
  a.allow(3);
  b.allow(1, false);
  c.allow(1, false);
  const bool up = GENERATE(true, false);
  network.set_rates(sample_peer(1), up ? 1e4 : 0, up ? 0 : 1e4);
  network.run_until(at(100));
  CHECK(a.take().size() == 2);
  b.take();
  c.take();
  Message bulk = numbered(7);
  bulk.payload = sample_bytes(800);
  if (up) {
    a.endpoint.send(sample_peer(2), Class::kBulk, bulk);
    a.endpoint.send(sample_peer(3), Class::kBulk, bulk);
    a.send(3, 8);
    b.endpoint.send(sample_peer(1), Class::kBulk, bulk);
  } else {
    b.endpoint.send(sample_peer(1), Class::kBulk, bulk);
    c.endpoint.send(sample_peer(1), Class::kBulk, bulk);
    c.send(1, 8);
    a.endpoint.send(sample_peer(2), Class::kBulk, bulk);
  }
  CHECK(a.endpoint.room(sample_peer(2), limits::kBulkQueueBytesMax) == !up);
  network.run_until(at(1000));
  // 100 ms of sending each and 10 ms of latency; the other way and control do not wait.
  CHECK(a.take() == (up ? Trace{"b7@110"} : Trace{"c8@110", "b7@210", "c7@310"}));
  CHECK(b.take() == (up ? Trace{"a7@210"} : Trace{"a7@110"}));
  CHECK(c.take() == (up ? Trace{"a8@110", "a7@310"} : Trace{}));
}

TEST_CASE("whole payloads pass, whatever their size") {
  Two w;
  Message bulk = sample_messages()[7];
  bulk.payload = sample_bytes(300U << 10U);
  std::size_t arrived = 0;
  w.b.loop.set_event_handler(
      [&](Event& event) { arrived = std::get<Arrived>(event).message.payload.size(); });
  w.a.endpoint.send(sample_peer(2), Class::kBulk, bulk);
  w.network.run_until(at(1000));
  CHECK(arrived == (300U << 10U));
}

TEST_CASE("loss, duplication and reordering happen as often as asked, from the seed") {
  const auto history = [](std::uint64_t seed, bool codec) {
    MemoryNetwork::Options options;
    options.seed = seed;
    options.codec = codec;
    options.link.loss = 0.2;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    Two w(options);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      w.a.send(2, i);
    }
    w.network.run_until(at(2000));
    return std::pair(w.b.take(), w.network.trace_hash());
  };
  const std::uint64_t seed = shoal::tests::test_seed(3);
  const auto [trace, hash] = history(seed, true);
  // 1000 x 0.8 x 1.1 = 880, standard deviation below 18: within 6 of them.
  CHECK(trace.size() > 770);
  CHECK(trace.size() < 990);
  CHECK_FALSE(std::is_sorted(trace.begin(), trace.end(), [](const auto& x, const auto& y) {
    return std::stoi(x.substr(1)) < std::stoi(y.substr(1));
  }));
  CHECK(history(seed, true) == std::pair(trace, hash));
  CHECK(history(seed, false).first == trace);
  CHECK(history(seed + 1, true).second != hash);
}

TEST_CASE("a crash loses what is on the way to the dead, not what it sent") {
  Two w;
  std::vector<PeerId> buried;
  w.network.on_crash = [&](const PeerId& peer) { buried.push_back(peer); };
  w.a.send(2, 1);
  w.b.send(1, 2);
  w.network.crash(sample_peer(2));
  CHECK(w.network.crashed(sample_peer(2)));
  CHECK(w.b.send(1, 3) == SendResult::kOk);  // the dead do not notice
  w.network.run_until(at(30));
  CHECK(buried == std::vector{sample_peer(2)});
  CHECK(w.a.send(2, 4) == SendResult::kOk);  // nor do the others, yet
  w.network.run_until(at(3000));
  CHECK(w.b.take().empty());
  CHECK(w.a.take() == Trace{"b2@20", "b-@510", "unreach@1510"});
  CHECK(w.a.send(2, 5) == SendResult::kUnreachable);
}

TEST_CASE("a restarted peer is another endpoint; the end of the first comes before its hello") {
  Two w;
  w.a.send(2, 1);
  w.network.crash(sample_peer(2));
  w.network.run_until(at(15));
  Listener again(w.network, 2);
  again.allow(1, false);
  w.network.run_until(at(1000));
  CHECK(w.a.take() == Trace{"b-@25", "b+@25"});
  CHECK(again.take() == Trace{"a+@25"});
  w.a.send(2, 7);
  w.network.run_until(at(2000));
  CHECK(again.take() == Trace{"a7@1010"});
}

TEST_CASE("a paused peer neither hears, nor speaks, nor runs its timers") {
  Two w;
  w.b.loop.add_timer(at(50), [&] { w.b.trace.push_back("timer"); });
  w.network.pause(sample_peer(2), milliseconds(100));
  w.a.send(2, 1);
  w.b.send(1, 2);
  w.network.run_until(at(109));
  CHECK(w.b.take().empty());
  CHECK(w.a.take().empty());
  w.network.run_until(at(200));
  CHECK(w.b.take() == Trace{"a1@110", "timer"});
  CHECK(w.a.take() == Trace{"b2@120"});
}

TEST_CASE("a cut link loses messages and is closed; a healed one connects again") {
  Two w;
  w.a.send(2, 1);
  w.network.cut(sample_peer(1), sample_peer(2));
  w.network.run_until(at(100));
  w.network.heal(sample_peer(1), sample_peer(2));
  w.a.send(2, 2);
  w.network.run_until(at(400));
  CHECK(w.b.take() == Trace{"a2@110"});  // healed before anybody noticed
  w.network.partition({sample_peer(2)});
  w.network.run_until(at(2000));
  CHECK(w.a.take() == Trace{"b-@900", "unreach@1900"});
  CHECK(w.b.take() == Trace{"a-@900"});
  w.network.heal_all();
  w.network.run_until(at(3000));
  CHECK(w.a.take() == Trace{"b+@2010"});
}

TEST_CASE("a forgotten peer is shut out") {
  Two w;
  w.b.endpoint.forget(sample_peer(1));
  w.a.send(2, 1);
  w.network.run_until(at(3000));
  CHECK(w.b.take() == Trace{"a-@10"});
  CHECK(w.a.take() == Trace{"b-@20", "refused@1020"});
}

TEST_CASE("faults strike at any message index") {
  SECTION("drop and delay") {
    Two w;
    w.network.on_send = [](const MemoryNetwork::Sent& sent) {
      SendFault fault;
      fault.drop = sent.index == 0;
      fault.delay = milliseconds(sent.index == 1 ? 70 : 0);
      return fault;
    };
    for (std::uint64_t i = 0; i < 3; ++i) {
      w.a.send(2, i);
    }
    w.network.run_until(at(200));
    CHECK(w.b.take() == Trace{"a1@90", "a2@90"});  // those behind it wait
  }
  SECTION("crash before and after") {
    for (const bool after : {false, true}) {
      Two w;
      w.network.on_send = [after](const MemoryNetwork::Sent& sent) {
        SendFault fault;
        fault.crash_before = !after && sent.index == 1;
        fault.crash_after = after && sent.index == 1;
        return fault;
      };
      for (std::uint64_t i = 0; i < 3; ++i) {
        w.a.send(2, i);
      }
      w.network.run_until(at(400));
      CHECK(w.b.take() == (after ? Trace{"a0@20", "a1@20"} : Trace{"a0@20"}));
    }
  }
  SECTION("pause") {
    Two w;
    w.network.on_send = [](const MemoryNetwork::Sent& sent) {
      SendFault fault;
      fault.pause = milliseconds(sent.index == 0 ? 100 : 0);
      return fault;
    };
    w.a.send(2, 0);
    w.a.send(2, 1);
    w.network.run_until(at(400));
    CHECK(w.b.take() == Trace{"a0@20", "a1@120"});
  }
  SECTION("a window of messages comes late") {
    Two w;
    w.network.delay_messages(sample_peer(1), 1, 2, milliseconds(30));
    for (std::uint64_t i = 0; i < 3; ++i) {
      w.a.send(2, i);
    }
    w.network.run_until(at(400));
    CHECK(w.b.take() == Trace{"a0@20", "a1@50", "a2@50"});
  }
}

TEST_CASE("hostile bytes are dropped by decode, strangers at the door") {
  Two w;
  const Message good = numbered(5);
  w.network.inject(sample_peer(1), sample_peer(2), encode_header(good, 0, 0), {});
  w.network.inject(sample_peer(1), sample_peer(2), sample_bytes(64), {});
  w.network.inject_unknown(sample_peer(2));
  w.network.run_until(at(100));
  CHECK(w.b.take() == Trace{"unknown-key@10", "a5@20", "bad-magic@20"});
}

TEST_CASE("actions of the world run at their time, and the run ends when it is told to") {
  Two w;
  w.network.at(at(50), [&] { w.a.send(2, 1); });
  CHECK(w.network.run_until(at(1000), [&] { return !w.b.trace.empty(); }));
  CHECK(w.network.now() == at(60));
  CHECK_FALSE(w.network.run_until(at(1000), [] { return false; }));
  CHECK(w.network.now() == at(1000));
}

TEST_CASE("how many messages a second the memory network takes", "[.bench]") {
  for (const bool codec : {true, false}) {
    MemoryNetwork::Options options;
    options.codec = codec;
    Two w(options);
    std::uint64_t left = 200000;
    const auto answer = [&](Listener& self, std::uint8_t to) {
      self.loop.set_event_handler([&, to](Event&) {
        if (left > 0) {
          self.send(to, --left);
        }
      });
    };
    answer(w.a, 2);
    answer(w.b, 1);
    for (std::uint64_t i = 0; i < 8; ++i) {
      w.a.send(2, i);
    }
    BootClock clock;
    const TimePoint start = clock.now();
    w.network.run_until(kNever);
    const double rate = 200000 / seconds(clock.now() - start);
    std::cout << (codec ? "with" : "without") << " codec: " << rate << " messages/s\n";
    CHECK(left == 0);
  }
}

}  // namespace shoal::comm::tests
