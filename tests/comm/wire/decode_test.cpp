#include <limits>
#include <type_traits>

#include "comm/limits.h"
#include "comm/wire/message.h"
#include "ops/base/rng.h"
#include "tests/comm/wire/samples.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::comm::tests {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Result<Frame> pass(const Message& m) {
  return decode(encode_header(m, m.payload.size(), 0).span(), m.payload);
}

/// The word by which decode() refuses the message; empty when it takes it.
std::string refusal(const Message& m) {
  const auto frame = pass(m);
  return frame.ok() ? "" : drop_reason(frame.error());
}

/// A sample of the kind, changed by `change`, is refused by "bad-body".
template <typename Kind, typename Change>
bool refuses(Change change) {
  for (Message m : sample_messages()) {
    if (auto* body = std::get_if<Kind>(&m.body)) {
      if (!refusal(m).empty()) {
        return false;  // then it is not the change that is refused
      }
      change(*body);
      return refusal(m) == "bad-body";
    }
  }
  return false;
}

std::vector<std::byte> bytes_of(const Message& m) {
  const Bytes frame = encode_header(m, m.payload.size(), 0);
  return {frame.span().begin(), frame.span().end()};
}

}  // namespace

TEST_CASE("every kind of message survives the wire whole") {
  const auto messages = sample_messages();
  REQUIRE(messages.size() == std::variant_size_v<Body>);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    INFO(kind_name(m.body));
    REQUIRE(m.body.index() == i);
    const auto frame = pass(m);
    REQUIRE(frame.ok());
    CHECK(frame->message.header == m.header);
    CHECK(frame->message.body == m.body);
    CHECK(to_hex(frame->message.payload.span()) == to_hex(m.payload.span()));
    CHECK(frame->payload_bytes == m.payload.size());
  }
}

TEST_CASE("a header frame may lie at any address") {
  for (const Message& m : sample_messages()) {
    const auto bytes = bytes_of(m);
    for (std::size_t shift = 0; shift < 8; ++shift) {
      std::vector<std::byte> room(bytes.size() + shift);
      std::copy(bytes.begin(), bytes.end(), room.begin() + static_cast<std::ptrdiff_t>(shift));
      const auto frame = decode(ByteSpan(room).subspan(shift), m.payload);
      REQUIRE(frame.ok());
      CHECK(frame->message.body == m.body);
    }
  }
}

TEST_CASE("another protocol version is told apart, whatever follows it") {
  Message m = sample_messages()[0];
  std::get<Hello>(m.body).version = 9;
  const auto frame = pass(m);
  REQUIRE_FALSE(frame.ok());
  CHECK(drop_reason(frame.error()) == "other-version");
  CHECK(frame.error().message.find("version 9") != std::string::npos);
  auto bytes = bytes_of(m);
  bytes.resize(8);  // no body that we could read
  CHECK(drop_reason(decode(bytes, {}).error()) == "other-version");
}

TEST_CASE("frames that are truncated, oversized or foreign are told apart") {
  const auto whole = bytes_of(sample_messages()[7]);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto frame = decode(ByteSpan(whole).first(size), sample_bytes(20));
    REQUIRE_FALSE(frame.ok());
    CHECK(drop_reason(frame.error()) == (size < 8 ? "truncated" : "bad-header"));
  }
  std::vector<std::byte> large(limits::kHeaderBytesMax + 1);
  CHECK(drop_reason(decode(large, {}).error()) == "oversized");
  auto foreign = whole;
  foreign[0] = std::byte{'S'};
  CHECK(drop_reason(decode(foreign, {}).error()) == "bad-magic");
  auto reserved = whole;
  reserved[7] = std::byte{1};
  CHECK(drop_reason(decode(reserved, {}).error()) == "bad-header");
}

TEST_CASE("flipped bits never pass for something out of bounds") {
  Rng rng(shoal::tests::test_seed(1), 0);
  std::size_t taken = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto messages = sample_messages();
    const Message& m = messages[rng.below(messages.size())];
    auto bytes = bytes_of(m);
    for (std::uint64_t flips = rng.below(4) + 1; flips > 0; --flips) {
      bytes[rng.below(bytes.size())] ^= static_cast<std::byte>(1U << rng.below(8));
    }
    const auto frame = decode(bytes, m.payload);
    if (!frame.ok()) {
      continue;
    }
    ++taken;
    // What was taken is something that an honest peer could have said.
    const auto again =
        decode(encode_header(frame->message, frame->payload_bytes, frame->chunk_offset).span(),
               frame->message.payload);
    REQUIRE(again.ok());
    CHECK(kind_name(again->message.body) == kind_name(frame->message.body));
  }
  CHECK(taken > 0);
}

TEST_CASE("payloads stand only behind bulk messages and chunks lie within them") {
  for (const Message& m : sample_messages()) {
    INFO(kind_name(m.body));
    const bool bulk = !m.payload.empty();
    const auto word = [&](std::uint64_t payload, std::uint64_t offset, std::size_t chunk) {
      const auto frame = decode(encode_header(m, payload, offset).span(), sample_bytes(chunk));
      return frame.ok() ? std::string() : drop_reason(frame.error());
    };
    CHECK(word(100, 60, 40) == (bulk ? "" : "bad-payload"));
    CHECK(word(0, 0, 0).empty());
    CHECK(word(100, 60, 41) == "bad-payload");
    CHECK(word(100, 101, 1) == "bad-payload");
    CHECK(word(100, ~std::uint64_t{0}, 1) == "bad-payload");
    CHECK(word(100, 60, 0) == "bad-payload");
    CHECK(word(0, 0, 1) == "bad-payload");
    CHECK(word(limits::kPayloadBytesMax + 1, 0, 1) == "oversized");
    CHECK(word(2 * limits::kChunkBytesMax, 0, limits::kChunkBytesMax + 1) == "oversized");
    CHECK(word(limits::kPayloadBytesMax, limits::kPayloadBytesMax - 9, 9) ==
          (bulk ? "" : "bad-payload"));
  }
}

TEST_CASE("ballots and rounds out of range are refused") {
  Message m = sample_messages()[11];
  const auto with = [&](auto change) {
    Message changed = m;
    change(changed.header);
    return refusal(changed);
  };
  CHECK(with([](Header& h) { h.ballot = {}; }).empty());
  CHECK(with([](Header& h) { h.round = limits::kRoundMax; }).empty());
  CHECK(with([](Header& h) { h.round = limits::kRoundMax + 1; }) == "bad-header");
  CHECK(with([](Header& h) { h.ballot.counter = limits::kBallotsMax + 1; }) == "bad-header");
  CHECK(with([](Header& h) { h.ballot.leader = {}; }) == "bad-header");
}

TEST_CASE("views have a member, no peer twice, parts that rise from 0, and sane numbers") {
  const auto view = [](auto change) { return refuses<Stale>([&](Stale& s) { change(s.view); }); };
  CHECK(view([](View& v) { v = View{}; }));
  CHECK(view([](View& v) { v.members[1].id.peer = v.members[0].id.peer; }));
  CHECK(view([](View& v) { v.bounds.pop_back(); }));
  CHECK(view([](View& v) { v.bounds[0] = 1; }));
  CHECK(view([](View& v) { std::swap(v.bounds[1], v.bounds[2]); }));
  CHECK(view([](View& v) { v.bounds[2] = limits::kGranulesMax + 1; }));
  CHECK(view([](View& v) { v.members[0].speed = kNan; }));
  CHECK(view([](View& v) { v.members[0].speed = 0; }));
  CHECK(view([](View& v) { v.members[0].speed = -1; }));
  CHECK(view([](View& v) { v.members[0].rate = limits::kRateMax + 1; }));
  CHECK(view([](View& v) {
    v = sample_view(200);
    for (std::size_t i = 0; i < 57; ++i) {
      v.members.push_back(v.members[0]);
      v.members.back().id.peer.key[0] = std::byte{0xff};
      v.members.back().id.peer.key[1] = static_cast<std::byte>(i);
      v.bounds.push_back(v.bounds.back());
    }
  }));
  CHECK_FALSE(view([](View& v) { v.bounds = {0, 0, 5}; }));  // a part may be empty
}

TEST_CASE("runs cover their granules exactly, with weights that are numbers") {
  const auto runs = [](auto change) {
    return refuses<Contribution>([&](Contribution& c) { change(c.weights); }) &&
           refuses<Answer>([&](Answer& a) {
             a.divisors = {{{4, 5}, 64}, {{5, 10}, 96.5}};
             change(a.divisors);
           });
  };
  CHECK(runs([](auto& r) { r.pop_back(); }));
  CHECK(runs([](auto& r) { r.push_back({{10, 11}, 1}); }));
  CHECK(runs([](auto& r) { r[0].granules.end = r[0].granules.begin; }));
  CHECK(runs([](auto& r) { r[1].weight = kNan; }));
  CHECK(runs([](auto& r) { r[1].weight = -1; }));
  CHECK(runs([](auto& r) { r[1].weight = std::numeric_limits<double>::infinity(); }));
  CHECK(runs([](auto& r) { r[1].weight = 2 * limits::kWeightMax; }));
  CHECK(runs([](auto& r) { r.clear(); }));
  CHECK_FALSE(runs([](auto& r) { r[1].weight = 0; }));
  CHECK(refuses<Contribution>([](Contribution& c) {
    c.granules = {0, limits::kRunsMax + 1};
    c.weights.clear();
    for (std::uint64_t g = 0; g <= limits::kRunsMax; ++g) {
      c.weights.push_back({{g, g + 1}, 1});
    }
  }));
  CHECK(refuses<Contribution>([](Contribution& c) { c.granules = {10, 4}; }));
  CHECK(refuses<Contribution>([](Contribution& c) { c.part = limits::kMembersMax; }));
  // The sum over all members is a weight that an answer may have.
  CHECK(refuses<Contribution>(
      [](Contribution& c) { c.weights[0].weight = 2 * limits::kMemberWeightMax; }));
}

TEST_CASE("a contribution that is none has no payload and needs no weights") {
  Message m = sample_messages()[7];
  auto& c = std::get<Contribution>(m.body);
  c.skip = true;
  CHECK(refusal(m) == "bad-payload");
  m.payload = {};
  CHECK(refusal(m).empty());
  c.weights.clear();
  CHECK(refusal(m).empty());
}

TEST_CASE("a codec's state is no longer than the payload that holds it") {
  Message m = sample_messages().back();
  auto& reply = std::get<StateReply>(m.body);
  reply.codec_state_bytes = m.payload.size();
  CHECK(refusal(m).empty());
  reply.codec_state_bytes = m.payload.size() + 1;
  CHECK(refusal(m) == "bad-payload");
}

TEST_CASE("member indices rise and stay below the largest view") {
  CHECK(refuses<Answer>([](Answer& a) { a.contributors = {2, 0}; }));
  CHECK(refuses<Answer>([](Answer& a) { a.contributors = {1, 1}; }));
  CHECK(refuses<Answer>([](Answer& a) { a.contributors = {limits::kMembersMax}; }));
  CHECK_FALSE(refuses<Answer>([](Answer& a) { a.contributors = {}; }));
  CHECK(refuses<Answer>([](Answer& a) { a.skipped = {2, 0}; }));
  CHECK(refuses<Answer>([](Answer& a) { a.skipped = {limits::kMembersMax}; }));
  CHECK(refuses<Control>([](Control& c) { c.excluded = {3, 3}; }));
  CHECK(refuses<Control>([](Control& c) { c.plan[0].owner = limits::kMembersMax; }));
  CHECK(refuses<Control>([](Control& c) { c.plan.resize(limits::kMembersMax + 1); }));
  CHECK(refuses<Control>([](Control& c) { c.scalars[0] = kNan; }));
  CHECK(refuses<Control>([](Control& c) { c.scalars.resize(limits::kScalarsMax + 1); }));
  CHECK(refuses<Refused>([](Refused& r) { r.member = limits::kMembersMax; }));
  CHECK(refuses<StateReply>([](StateReply& r) { r.record[0] = {1, 0}; }));
  CHECK(refuses<StateReply>([](StateReply& r) { r.record_known = false; }));
  CHECK(refuses<StateReply>(
      [](StateReply& r) { r.codec_state_bytes = limits::kCodecStateBytesMax + 1; }));
  CHECK(refuses<Promise>([](Promise& p) { p.held_ballot = {0, sample_peer(1)}; }));
  CHECK(refuses<Promise>([](Promise& p) { p.held_control.next_view = {}; }));
  CHECK(refuses<Promise>([](Promise& p) { p.known.resize(limits::kMembersMax + 1); }));
  CHECK(refuses<Fetch>([](Fetch& f) { f.have.resize(limits::kMembersMax + 1); }));
}

TEST_CASE("fields that came later survive too") {
  for (Message m : sample_messages()) {
    if (auto* answer = std::get_if<Answer>(&m.body)) {
      answer->skipped = {1, 3};
    } else if (auto* refused = std::get_if<Refused>(&m.body)) {
      refused->late = true;
    } else if (auto* reply = std::get_if<StateReply>(&m.body)) {
      reply->stop = reply->owed = true;
      reply->codec_state_bytes = m.payload.size();
    }
    const auto frame = decode(encode_header(m, m.payload.size(), 0).span(), m.payload);
    REQUIRE(frame.ok());
    CHECK(frame->message.body == m.body);
  }
}

TEST_CASE("a promise that holds nothing survives too") {
  Message m = sample_messages()[12];
  m.body = Promise{false, {}, {}, {}, {sample_hash(5)}};
  const auto frame = pass(m);
  REQUIRE(frame.ok());
  CHECK(frame->message.body == m.body);
}

TEST_CASE("texts of peers may be shown on a terminal") {
  const auto name = [](std::string text) {
    return refuses<Hello>([&](Hello& h) { h.name = std::move(text); });
  };
  CHECK(name("\x1b[2J"));
  CHECK(name("two\nlines"));
  CHECK(name("bad \xff utf-8"));
  CHECK(name("over \xc0\xaf long"));
  CHECK(name("cut \xe2\x82"));
  CHECK(
      name("C1 \xc2\x9b"
           "2J"));
  CHECK(name("turned \xe2\x80\xae"));
  CHECK(name(std::string(limits::kNameBytesMax + 1, 'x')));
  CHECK_FALSE(name("Zoë's laptop 雪"));
  CHECK_FALSE(name(""));
  CHECK(refuses<Hello>([](Hello& h) { h.addresses = {"no spaces:1"}; }));
  CHECK(refuses<Hello>([](Hello& h) { h.addresses.resize(limits::kAddressesMax + 1, "h:1"); }));
  CHECK(refuses<Hello>([](Hello& h) { h.rate = limits::kRateMax + 1; }));
  CHECK(refuses<Enrol>([](Enrol& e) { e.signature.pop_back(); }));
  CHECK(refuses<Roster>([](Roster& r) { r.run_keys = "a=\x01"; }));
  CHECK(refuses<Join>([](Join& j) { j.speed = 0; }));
  CHECK(refuses<Heartbeat>([](Heartbeat& h) { h.samples_per_s = -1; }));
  CHECK_FALSE(refuses<Heartbeat>([](Heartbeat& h) { h.loss = std::nanf(""); }));
}

TEST_CASE("our own long or odd sentences are cut to what decode() takes") {
  Message m = sample_messages()[3];
  std::string reason(limits::kReasonBytesMax - 1, 'x');
  reason += "é and \x1b more";
  m.body = Bye{reason};
  const auto frame = pass(m);
  REQUIRE(frame.ok());
  CHECK(std::get<Bye>(frame->message.body).reason == std::string(limits::kReasonBytesMax - 1, 'x'));
  m.body = Bye{"a\x1b[2Jb"};
  CHECK(std::get<Bye>(pass(m)->message.body).reason == "a?[2Jb");
}

TEST_CASE("the largest honest messages fit into a header frame") {
  Message m = sample_messages()[7];
  auto& c = std::get<Contribution>(m.body);
  c.granules = {0, limits::kRunsMax};
  c.weights.clear();
  for (std::uint64_t g = 0; g < limits::kRunsMax; ++g) {
    c.weights.push_back({{g, g + 1}, 1});
  }
  CHECK(bytes_of(m).size() <= limits::kHeaderBytesMax);
  CHECK(refusal(m).empty());

  Promise promise = std::get<Promise>(sample_messages()[12].body);
  promise.held_control.next_view = sample_view(limits::kMembersMax - 1);
  promise.held_control.plan.assign(limits::kMembersMax, {3, sample_hash(3)});
  promise.held_answers.assign(limits::kMembersMax, sample_hash(3));
  promise.known.assign(limits::kMembersMax, sample_hash(3));
  m = sample_messages()[12];
  m.body = promise;
  CHECK(bytes_of(m).size() <= limits::kHeaderBytesMax);
  CHECK(refusal(m).empty());

  m = sample_messages()[17];
  std::vector<std::uint16_t> everybody(limits::kMembersMax);
  for (std::size_t i = 0; i < everybody.size(); ++i) {
    everybody[i] = static_cast<std::uint16_t>(i);
  }
  std::get<StateReply>(m.body).record.assign(limits::kMembersMax, everybody);
  CHECK(bytes_of(m).size() <= limits::kHeaderBytesMax);
  CHECK(refusal(m).empty());
}

}  // namespace shoal::comm::tests
