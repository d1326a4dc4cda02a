#include "comm/session.h"

#include "comm/limits.h"
#include "tests/comm/session_world.h"
#include "tests/support/catch.h"

namespace shoal::comm::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Trace = std::vector<std::string>;

/// Two peers that have said hello.
struct Two {
  explicit Two(const MemoryNetwork::Options& options = {}) : network(options) {
    a.allow(2);
    b.allow(1, false);
    run(seconds(1));
  }
  void run(Duration d) { network.run_until(network.now() + d); }
  MemoryNetwork network;
  SessionPeer a{network, 1, 101};
  SessionPeer b{network, 2, 201};
};

}  // namespace

TEST_CASE("peers whose hellos fit become alive on both sides, and messages pass") {
  Two w;
  CHECK(w.a.take() == Trace{"accepted@2", "alive@2"});
  CHECK(w.b.take() == Trace{"accepted@1", "alive@1"});
  CHECK(w.a.session->alive(w.b.id));
  CHECK(w.a.session->session_of(w.b.id) == 201);
  CHECK(w.a.session->alive_peers() == std::vector{w.b.id});
  CHECK(w.a.send(2, 7) == SendResult::kOk);
  CHECK(w.a.send(2, 8, Class::kBulk) == SendResult::kOk);
  CHECK(w.a.send(3, 8) == SendResult::kUnreachable);
  w.run(seconds(1));
  CHECK(w.b.take() == Trace{"fetch7@1", "fetch8@1"});
  CHECK(w.b.counted("replayed") == 0);
  CHECK(w.a.info(2).state == "alive");
  CHECK(w.a.info(2).name == "peer 2");
}

TEST_CASE("hellos that do not fit are refused, each in its own words") {
  const auto refusal = [&](RunFacts theirs) {
    MemoryNetwork network({});
    SessionOptions options;
    options.facts = theirs;
    SessionPeer a(network, 1, 101);
    SessionPeer b(network, 2, 201, options);
    a.allow(2);
    b.allow(1);
    network.run_until({seconds(3)});
    CHECK_FALSE(a.session->alive(b.id));
    CHECK_FALSE(b.session->alive(a.id));
    CHECK(a.send(2, 1) == SendResult::kUnreachable);
    CHECK(a.info(2).state.starts_with("refused: "));
    return std::pair(a.take(), b.take());
  };
  const auto both = [](const std::string& words) {
    // Each refuses the other; what arrives after that adds nothing.
    return std::pair(Trace{"refused for " + words + "@2"}, Trace{"refused for " + words + "@1"});
  };
  CHECK(refusal({78, sample_hash(1), sample_hash(2), false}) == both("other run"));
  CHECK(refusal({77, sample_hash(9), sample_hash(2), false}) == both("other model"));
  CHECK(refusal({77, sample_hash(1), sample_hash(9), false}) == both("other run keys"));
}

TEST_CASE("another protocol version is recognised and said on both sides") {
  Two w;
  w.a.take();
  Message m;
  m.header = {77, 0, 0, {}, 0, 205, 1};
  Hello hello;
  hello.version = 9;
  m.body = hello;
  const Bytes frame = encode_header(m, 0, 0);
  w.network.inject(w.b.id, w.a.id, frame, {});
  w.run(seconds(1));
  CHECK(w.a.take() == Trace{"dead@2", "refused for other-version@2"});
  CHECK(w.b.take() == Trace{"accepted@1", "alive@1", "dead@1", "refused us for other-version@1"});
  CHECK(w.a.counted("other-version") == 1);
  CHECK(w.a.info(2).state.find("version 9") != std::string::npos);
  CHECK(judge_hello({}, {}, hello)->reason == RefuseReason::kVersion);
}

TEST_CASE("an observer needs the run only, and takes no part in rounds") {
  MemoryNetwork network({});
  SessionOptions options;
  options.facts = {77, {}, {}, true};
  SessionPeer member(network, 1, 101);
  SessionPeer joiner(network, 2, 201, options);
  member.allow(2, false);
  joiner.allow(1);
  network.run_until({seconds(1)});
  CHECK(member.take() == Trace{"accepted@2"});
  CHECK(joiner.take() == Trace{"accepted@1", "alive@1"});
  CHECK(member.info(2).state == "observer");
  const Message enrol = sample_messages()[4];
  CHECK(joiner.session->send(member.id, Class::kControl, enrol) == SendResult::kOk);
  CHECK(joiner.send(1, 5) == SendResult::kOk);
  CHECK(member.session->send(joiner.id, Class::kControl, sample_messages()[5]) == SendResult::kOk);
  network.run_until({seconds(2)});
  CHECK(member.take() == Trace{"enrol@2"});
  CHECK(joiner.take() == Trace{"roster@1"});
  CHECK(member.counted("observer-in-round") == 1);
}

TEST_CASE("membership may refuse for reasons of its own, also requests") {
  MemoryNetwork network({});
  SessionPeer a(network, 1, 101);
  SessionPeer b(network, 2, 201);
  a.allow(2);
  b.allow(1);
  network.run_until({seconds(1)});
  a.take();
  b.take();
  a.session->refuse(b.id, {RefuseReason::kFull, "full: the run has all its members"});
  network.run_until({seconds(2)});
  CHECK(b.take() == Trace{"refused us for full@1"});
  CHECK(b.session->alive(a.id));  // it answered a request, the session stands
}

TEST_CASE("frames before a hello, of another session or of another run are dropped") {
  Two w;
  w.b.take();
  const auto inject = [&](std::uint64_t run, std::uint64_t session, std::uint64_t sequence) {
    Message m;
    m.header = {run, 0, 0, {}, 3, session, sequence};
    m.body = Fetch{};
    w.network.inject(w.a.id, w.b.id, encode_header(m, 0, 0), {});
    w.run(milliseconds(100));
  };
  inject(77, 999, 50);
  CHECK(w.b.counted("old-session") == 1);
  inject(78, 101, 50);
  CHECK(w.b.counted("other-run") == 1);
  inject(77, 101, 51);
  CHECK(w.b.take() == Trace{"fetch3@1"});
  SessionPeer c(w.network, 3, 301);
  w.b.allow(3, false);
  c.session.reset();  // connects, but never says hello
  w.network.find_endpoint(c.id)->allow(w.b.id, {"memory:1"});
  w.run(seconds(1));
  Message m;
  m.header = {77, 0, 0, {}, 3, 301, 1};
  m.body = Fetch{};
  w.network.inject(c.id, w.b.id, encode_header(m, 0, 0), {});
  w.run(seconds(1));
  CHECK(w.b.counted("before-hello") == 1);
  CHECK(w.b.take().empty());
  w.run(limits::kHandshake);
  CHECK(w.b.counted("no-hello") == 1);
}

TEST_CASE("a frame that was seen before is dropped, counted and penalised") {
  Two w;
  w.b.take();
  Message m;
  m.header = {77, 0, 0, {}, 3, 101, 70};
  m.body = Fetch{};
  const Bytes frame = encode_header(m, 0, 0);
  w.network.inject(w.a.id, w.b.id, frame, {});
  w.network.inject(w.a.id, w.b.id, frame, {});
  w.run(milliseconds(100));
  CHECK(w.b.take() == Trace{"fetch3@1"});
  CHECK(w.b.counted("replayed") == 1);
  for (int i = 0; i < limits::kPenaltyBan; ++i) {
    w.network.inject(w.a.id, w.b.id, frame, {});
  }
  w.run(milliseconds(100));
  CHECK(w.b.counted("banned") == 1);
}

TEST_CASE("the replay window takes each number once, also out of order") {
  ReplayWindow window;
  CHECK_FALSE(window.accept(0));
  CHECK(window.accept(5));
  CHECK_FALSE(window.accept(5));
  CHECK(window.accept(3));
  CHECK_FALSE(window.accept(3));
  CHECK(window.accept(5 + ReplayWindow::kReach));
  CHECK_FALSE(window.accept(5));
  CHECK(window.accept(6));
  CHECK(window.accept(~std::uint64_t{0}));
  CHECK_FALSE(window.accept(7));
  CHECK_FALSE(window.accept(~std::uint64_t{0}));
}

TEST_CASE("a silent peer is found dead, and alive again when it speaks") {
  Two w;
  w.a.take();
  w.b.take();
  w.network.pause(w.b.id, seconds(10));
  w.run(limits::kSuspect - milliseconds(100));
  CHECK(w.a.take().empty());
  w.run(seconds(2));
  CHECK(w.a.take() == Trace{"dead@2"});
  CHECK_FALSE(w.a.session->alive(w.b.id));
  CHECK(w.a.info(2).state == "silent");
  w.run(seconds(10));
  CHECK(w.a.take() == Trace{"alive@2"});
  CHECK(w.b.take().empty());  // it stood still itself, nobody was silent to it
}

TEST_CASE("a killed peer is found dead soon after its connection closed") {
  Two w;
  w.a.take();
  w.network.crash(w.b.id);
  w.run(milliseconds(500) + limits::kSuspectClosed + limits::kHeartbeat + milliseconds(100));
  CHECK(w.a.take() == Trace{"unreach@2", "dead@2"});
  CHECK(w.a.send(2, 1) == SendResult::kUnreachable);
}

TEST_CASE("a connection that comes back in time is nobody's death") {
  Two w;
  w.a.take();
  w.network.cut(w.a.id, w.b.id);
  w.run(milliseconds(900));
  CHECK(w.a.info(2).state == "alive");
  w.network.heal(w.a.id, w.b.id);
  w.run(seconds(5));
  CHECK(w.a.take().empty());
  CHECK(w.a.send(2, 9) == SendResult::kOk);
  w.run(seconds(1));
  CHECK(w.b.take().back() == "fetch9@1");
}

TEST_CASE("a restarted peer begins a new life; frames of the old one are dropped") {
  Two w;
  w.a.take();
  w.a.send(2, 1);
  w.b.send(1, 2);
  w.network.crash(w.b.id);
  w.b.session.reset();
  w.run(milliseconds(20));
  SessionPeer again(w.network, 2, 777);
  again.allow(1, false);
  w.run(seconds(1));
  CHECK(w.a.take() == Trace{"fetch2@2", "dead@2", "accepted@2", "alive@2"});
  CHECK(w.a.session->session_of(w.b.id) == 777);
  CHECK(again.take() == Trace{"accepted@1", "alive@1"});
  // Neither a late frame nor a late hello of the old life counts.
  Message m;
  m.header = {77, 0, 0, {}, 3, 201, 500};
  m.body = Fetch{};
  w.network.inject(again.id, w.a.id, encode_header(m, 0, 0), {});
  m.body = Hello{kProtocolVersion, "old", sample_hash(1), sample_hash(2), {}, 0, false, 101};
  w.network.inject(again.id, w.a.id, encode_header(m, 0, 0), {});
  w.run(seconds(1));
  CHECK(w.a.take().empty());
  CHECK(w.a.counted("old-session") == 2);
  CHECK(w.a.session->session_of(w.b.id) == 777);
}

TEST_CASE("a peer that renews its session re-enters as another member") {
  Two w;
  w.a.take();
  w.b.take();
  w.b.session->renew_session();
  CHECK(w.b.session->own_session() == 202);
  w.run(seconds(1));
  CHECK(w.a.take() == Trace{"dead@2", "accepted@2", "alive@2"});
  CHECK(w.a.session->session_of(w.b.id) == 202);
  CHECK(w.b.take().empty());
  w.b.send(1, 4);
  w.a.send(2, 5);
  w.run(seconds(1));
  CHECK(w.a.take() == Trace{"fetch4@2"});
  CHECK(w.b.take() == Trace{"fetch5@1"});
}

TEST_CASE("a renewed session whose hello is lost is said again") {
  Two w;
  int lost = 0;
  w.network.on_send = [&](const MemoryNetwork::Sent& sent) {
    SendFault fault;
    fault.drop =
        sent.from == w.b.id && std::holds_alternative<Hello>(sent.message.body) && lost++ == 0;
    return fault;
  };
  w.b.session->renew_session();
  w.run(seconds(3));
  CHECK(lost > 1);
  CHECK(w.a.session->session_of(w.b.id) == 202);
  CHECK(w.a.session->alive(w.b.id));
}

TEST_CASE("a goodbye ends a life at once and for good") {
  Two w;
  w.a.take();
  w.b.session->leave("done");
  w.run(milliseconds(15));
  CHECK(w.a.take() == Trace{"bye@2", "dead@2"});
  CHECK(w.a.info(2).state == "left");
  w.run(seconds(5));  // its heartbeats are those of a life that is over
  CHECK(w.a.take().empty());
}

TEST_CASE("bad frames cost points; a banned peer is shut out for a while, then let in again") {
  Two w;
  w.a.take();
  for (int i = 1; i < limits::kPenaltyBan / limits::kPenaltyBadFrame; ++i) {
    w.network.inject(w.b.id, w.a.id, sample_bytes(100), {});
  }
  w.run(milliseconds(50));
  CHECK(w.a.counted("bad-magic") == 9);
  CHECK(w.a.session->alive(w.b.id));
  w.a.session->penalise(w.b.id, "absurd");
  w.a.session->penalise(w.b.id, "absurd");
  CHECK(w.a.session->alive(w.b.id));  // never from within the caller
  w.run(seconds(1));
  CHECK(w.a.take() == Trace{"dead@2"});
  CHECK(w.a.info(2).state == "banned");
  CHECK(w.a.counted("absurd") == 2);
  w.run(limits::kBan - seconds(3));
  CHECK(w.a.take().empty());
  w.run(seconds(6));
  CHECK(w.a.take() == Trace{"accepted@2", "alive@2"});
  w.a.send(2, 6);
  w.run(seconds(1));
  CHECK(w.b.take().back() == "fetch6@1");
}

TEST_CASE("strangers are counted and cost nobody anything") {
  Two w;
  for (int i = 0; i < 200; ++i) {
    w.network.inject_unknown(w.a.id);
  }
  w.run(seconds(1));
  CHECK(w.a.counted("unknown-key") == 200);
  CHECK(w.a.counted("banned") == 0);
}

TEST_CASE("heartbeats carry status and measure the round trip, whatever the hurry") {
  MemoryNetwork::Options options;
  options.link.latency = milliseconds(40);
  Two w(options);
  w.b.session->set_status({12, 345, 0.25F, 1000});
  w.run(seconds(5));
  const PeerInfo info = w.a.info(2);
  CHECK(info.status.round == 12);
  CHECK(info.status.step == 345);
  CHECK(info.status.loss == 0.25F);
  CHECK(info.status.samples_per_s == 1000);
  // 80 ms there and back; the age of an echo is cut to whole microseconds.
  CHECK(info.round_trip >= milliseconds(80));
  CHECK(info.round_trip < milliseconds(80) + std::chrono::microseconds(2));
  w.b.session->set_status({12, 345, std::nanf(""), -std::numeric_limits<float>::infinity()});
  w.run(seconds(2));
  CHECK(std::isnan(w.a.info(2).status.loss));
  CHECK(w.a.counted("bad-body") == 0);
}

TEST_CASE("the rate of a peer is the smaller of what it announces and what is measured") {
  MemoryNetwork::Options network_options;
  network_options.link.rate = 5000;
  MemoryNetwork network(network_options);
  SessionOptions options;
  options.rate = 900;
  SessionPeer a(network, 1, 101);
  SessionPeer b(network, 2, 201, options);
  a.allow(2);
  b.allow(1);
  network.run_until({seconds(2)});
  CHECK(a.session->rate_of(b.id) == 900);
  CHECK(b.session->rate_of(a.id) == 5000);
  CHECK(a.session->rate_of(sample_peer(9)) == 0);
}

TEST_CASE("a forgotten peer is dead; allowed again, it says hello and is heard") {
  Two w;
  w.a.take();
  w.b.take();
  w.a.session->forget(w.b.id);
  CHECK(w.a.take() == Trace{"dead@2"});
  w.run(seconds(5));
  CHECK(w.b.take() == Trace{"dead@1"});
  w.a.allow(2);
  w.run(seconds(2));
  CHECK(w.a.take() == Trace{"accepted@2", "alive@2"});
  CHECK(w.b.take() == Trace{"alive@1"});
  w.a.send(2, 3);
  w.b.send(1, 4);
  w.run(seconds(1));
  CHECK(w.b.take() == Trace{"fetch3@1"});
  CHECK(w.a.take() == Trace{"fetch4@2"});
}

TEST_CASE("sessions come up and stay up on a network that loses, repeats and reorders") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MemoryNetwork::Options options;
    options.seed = seed;
    options.link.loss = 0.2;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.2;
    MemoryNetwork network(options);
    SessionPeer a(network, 1, 101);
    SessionPeer b(network, 2, 201);
    a.allow(2);
    b.allow(1);
    network.run_until({seconds(10)});
    INFO("seed " << seed);
    CHECK(a.session->alive(b.id));
    CHECK(b.session->alive(a.id));
    CHECK(a.counted("banned") + b.counted("banned") == 0);
  }
}

}  // namespace shoal::comm::tests
