#include <algorithm>
#include <map>
#include <set>

#include "comm/group_mean.h"
#include "tests/comm/still_endpoint.h"
#include "tests/comm/wire/samples.h"
#include "tests/support/catch.h"

// One member whose peers are played by the test: what a member does, message by message.

namespace shoal::comm::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBranch = 7;

struct SentMessage {
  PeerId to;
  Message message;
};

/// Keeps what is sent; who is dead or full is up to the test.
class PlayedNet final : public Net {
 public:
  PeerId self() const override { return sample_peer(1); }
  SendResult send(const PeerId& to, Class cls, Message message) override {
    if (cls == Class::kBulk && full.contains(to)) {
      return SendResult::kFull;
    }
    sent.push_back({to, std::move(message)});
    return SendResult::kOk;
  }
  bool alive(const PeerId& peer) const override {
    return sessions.contains(peer) && !dead.contains(peer);
  }
  std::uint64_t session_of(const PeerId& peer) const override { return sessions.at(peer); }
  std::uint64_t own_session() const override { return 1; }
  void renew_session() override {}
  std::vector<PeerId> alive_peers() const override {
    std::vector<PeerId> all;
    for (const auto& [peer, session] : sessions) {
      if (peer != self() && alive(peer)) {
        all.push_back(peer);
      }
    }
    return all;
  }
  bool idle(const PeerId& peer) const override { return !busy.contains(peer); }
  std::uint64_t rate_of(const PeerId& peer) const override { return rates.at(peer); }
  void penalise(const PeerId& peer, const std::string& reason) override {
    penalised[reason].push_back(peer);
  }
  void count(const std::string& reason) override { ++counted[reason]; }
  void set_receiver(Receiver*) override {}

  std::map<PeerId, std::uint64_t> sessions;
  std::map<PeerId, std::uint64_t> rates;
  std::set<PeerId> dead;
  std::set<PeerId> full;
  std::set<PeerId> busy;
  std::vector<SentMessage> sent;
  std::map<std::string, std::uint64_t> counted;
  std::map<std::string, std::vector<PeerId>> penalised;
};

/// A matrix a granule.
ParamMap map_of(std::uint64_t granules) {
  ParamMap map;
  for (std::uint64_t i = 0; i < granules; ++i) {
    Param p;
    p.name = "weights" + std::to_string(i);
    p.shape = {64, 64};
    REQUIRE(map.add(p).ok());
  }
  map.seal();
  return map;
}

/// The first member of a view, a granule a member.
class One final : public GroupHost {
 public:
  explicit One(std::size_t members, StillEndpoint* given = nullptr, Workers* workers = nullptr,
               std::string codec_name = "fp32")
      : endpoint(given == nullptr ? own_endpoint : *given),
        loop(endpoint, workers),
        map(map_of(members)),
        codec_name_(std::move(codec_name)) {
    view.number = 1;
    for (std::size_t i = 0; i < members; ++i) {
      const PeerId peer = sample_peer(static_cast<std::uint8_t>(i + 1));
      view.members.push_back({{peer, i + 1}, 1000, 1});
      net.sessions[peer] = i + 1;
    }
    view.bounds = balance_bounds(view.members, members);
    const CodecChoice codec(codec_());
    group = std::make_unique<GroupMean>(loop, net, *this, map, codec, GroupOptions{}, Log{});
    group->start(kBranch, view, 0, Hash256{});
  }

  ControlInput control(std::uint64_t) override { return {}; }
  std::uint64_t applied_round() const override { return applied; }
  std::optional<Bytes> snapshot() override { return sample_bytes(8); }
  Status restore(const Bytes&, std::uint64_t) override { return {}; }
  std::optional<Hash256> state_hash() override { return std::nullopt; }
  void committed(const RoundRecord&) override {}

  void run_for(Duration d) {
    const TimePoint end = endpoint.time + d;
    run(endpoint, loop, end);
    endpoint.time = end;
  }
  /// A message of a member, by its index in the view.
  void receive(std::size_t from, std::uint64_t round, Body body, const Ballot& ballot = {},
               Bytes payload = {}) {
    Message m;
    m.header.branch = kBranch;
    m.header.view = 1;
    m.header.round = round;
    m.header.ballot = ballot;
    m.header.session = view.members[from].id.session;
    m.body = std::move(body);
    m.payload = std::move(payload);
    group->on_message(view.members[from].id.peer, m);
  }
  /// "I have nothing for your part."
  void skip(std::size_t from, std::uint64_t round) {
    receive(from, round, Contribution{0, view.part(0), group->committed_hash(), 0, true, {}});
  }
  /// A member's answer for a part: nobody said anything.
  void answer(std::size_t from, std::size_t part, std::uint64_t round, const Ballot& ballot = {},
              std::size_t payload_bytes = kGranule * sizeof(float)) {
    const Range granules = view.part(part);
    receive(from, round,
            Answer{static_cast<std::uint32_t>(part), granules, 1, {}, {{granules, 0}}, {}}, ballot,
            Bytes(std::vector<std::byte>(payload_bytes)));
  }
  void contribute() { loop.spawn(mean()); }
  Task<void> enter() {
    const auto entered = co_await group->enter(1);
    ended = entered.ok() ? "" : entered.error().message;
  }
  [[nodiscard]] PeerId peer(std::size_t i) const { return view.members[i].id.peer; }
  /// What was sent of a kind.
  template <typename T>
  std::vector<SentMessage> sent() const {
    std::vector<SentMessage> out;
    std::copy_if(net.sent.begin(), net.sent.end(), std::back_inserter(out),
                 [](const auto& s) { return std::holds_alternative<T>(s.message.body); });
    return out;
  }

  StillEndpoint own_endpoint;
  StillEndpoint& endpoint;
  Loop loop;
  PlayedNet net;
  ParamMap map;
  View view;
  std::uint64_t applied = 0;
  std::string ended;  ///< why mean() or enter() did, if they failed
  std::unique_ptr<GroupMean> group;

 private:
  [[nodiscard]] std::unique_ptr<compress::Codec> codec_() const {
    auto codec = compress::make_codec(codec_name_, Options{});
    REQUIRE(codec.ok());
    return std::move(*codec);
  }
  Task<void> mean() {
    const std::vector<float> x(static_cast<std::size_t>(map.flat_size()), 1.0F);
    const CodecChoice codec(codec_());
    const auto mean = co_await group->mean(x, 1, codec);
    applied = mean.ok() ? mean->record.round : applied;
    ended = mean.ok() ? "" : mean.error().message;
  }

  std::string codec_name_;
};

bool decodes(const Message& message) {
  return decode(encode_header(message, message.payload.size(), 0).span(), message.payload).ok();
}

}  // namespace

TEST_CASE("a fetch lists no more than decode() takes") {
  One one(200);
  for (std::size_t i = 1; i < 200; ++i) {
    one.skip(i, 1);
    one.answer(i, i, 1, {}, i);
  }
  one.run_for(seconds(2));
  const auto fetches = one.sent<Fetch>();
  REQUIRE(!fetches.empty());
  CHECK(std::get<Fetch>(fetches.front().message.body).have.size() > limits::kMembersMax / 2);
  CHECK(std::all_of(fetches.begin(), fetches.end(), [](auto& f) { return decodes(f.message); }));
}

TEST_CASE("who fell behind asks for the state once, then ever more rarely") {
  One one(3);
  for (int i = 0; i < 14; ++i) {
    one.receive(1, 50, Hold{sample_hash(1), {}});
    one.run_for(milliseconds(100));
  }
  REQUIRE(one.sent<StateRequest>().size() == 1);
  CHECK(one.group->stats().repairs == 1);
  // Asked again after 1.5, 3, 6 and 12 s; the next time would be after 24 more.
  one.run_for(seconds(30));
  CHECK(one.sent<StateRequest>().size() == 5);
  one.net.dead.insert(one.sent<StateRequest>().back().to);
  one.run_for(milliseconds(200));
  CHECK(one.sent<StateRequest>().size() == 6);
}

TEST_CASE("parts of a round that arrive are progress") {
  One one(3);
  one.contribute();
  for (const std::size_t other : {1U, 2U}) {
    one.run_for(seconds(40));
    one.answer(other, other, 1);
  }
  one.run_for(seconds(40));  // 120 s in all: twice what is waited for without any
  CHECK(one.ended == "");
  one.run_for(seconds(30));
  CHECK_THAT(one.ended, Catch::Matchers::Contains("no progress"));
}

TEST_CASE("who enters waits for a state that was asked for") {
  One one(3);
  one.loop.spawn(one.enter());
  one.run_for(seconds(50));
  one.receive(1, 1, Stale{Hash256{}, 0, one.view});
  REQUIRE(one.sent<StateRequest>().size() == 1);
  one.run_for(seconds(50));
  CHECK(one.ended == "");
  one.run_for(seconds(20));
  CHECK_THAT(one.ended, Catch::Matchers::Contains("sent it the state"));
}

TEST_CASE("a state that is on its way is not sent again") {
  One one(3);
  one.receive(1, 1, StateRequest{});
  CHECK(one.sent<StateReply>().size() == 1);
  one.net.busy.insert(one.peer(1));
  one.receive(1, 1, StateRequest{});
  CHECK(one.sent<StateReply>().size() == 1);
  one.net.busy.clear();  // nothing is: it was lost
  one.receive(1, 1, StateRequest{});
  CHECK(one.sent<StateReply>().size() == 2);
}

TEST_CASE("a state whose codec's part is hostile is refused whole, and its sender penalised") {
  One one(3, nullptr, nullptr, "powersgd");
  const auto codec = std::move(compress::make_codec("powersgd", {})).value();
  ByteWriter sent;
  sent.put_bytes(sample_bytes(8).span());
  codec->make_state(one.map, 99)->save(sent);
  const std::uint64_t codec_bytes = sent.size() - 8;
  const auto reply = [&](std::uint64_t bytes, std::size_t flipped) {
    auto payload = std::vector(sent.span().begin(), sent.span().end());
    payload[flipped] ^= std::byte{0x40};
    StateReply r;
    r.view = one.view;
    r.codec_state_bytes = bytes;
    one.receive(1, 50, std::move(r), {}, Bytes(std::move(payload)));
  };
  one.receive(1, 50, Hold{sample_hash(1), {}});  // so it asks for the state
  const Bytes before = one.group->codec_state();
  reply(codec_bytes, sent.size() - 1);  // a basis that is not one long
  reply(codec_bytes, 8);                // another rank
  reply(0, 0);                          // none at all
  reply(codec_bytes - 1, 0);
  CHECK(one.net.penalised["bad-state"].size() == 4);
  CHECK(one.group->committed_round() == 0);
  CHECK(std::ranges::equal(one.group->codec_state().span(), before.span()));
  reply(codec_bytes, 0);  // the host takes any eight bytes
  CHECK(one.group->committed_round() == 49);
  CHECK(std::ranges::equal(one.group->codec_state().span(), sent.span().subspan(8)));
}

TEST_CASE("what one member makes the others hold in a round is bounded") {
  One one(3);
  const std::size_t many = limits::kBallotsBrought + 44;
  for (std::uint32_t i = 1; i <= many; ++i) {
    one.receive(1, 1, Hold{sample_hash(1), {}}, {i, sample_peer(99)});
  }
  CHECK(one.net.counted["too-many-ballots"] == 44);
  for (std::size_t i = 1; i <= 10; ++i) {
    one.answer(1, 2, 1, {}, i);  // part 2 is another's: two a part may be passed on
  }
  CHECK(one.net.counted["too-many-answers"] == 4);
  for (std::size_t i = 0; i < limits::kAheadMax + 8; ++i) {
    one.receive(1, 2, Hold{sample_hash(1), {}});
  }
  CHECK(one.net.counted["ahead-full"] == 8);
  CHECK(one.net.penalised.empty());
  one.answer(2, 2, 1, {}, kGranule * limits::kElementBytesMax + 1);
  CHECK(one.net.penalised["wrong-part"] == std::vector{one.peer(2)});
}

TEST_CASE("no ballot is begun that decode() refuses") {
  One one(3);
  one.receive(1, 1, Stale{Hash256{}, 0, one.view}, {limits::kBallotsMax, one.peer(1)});
  one.net.dead.insert(one.peer(2));
  one.skip(1, 1);
  one.run_for(seconds(10));
  CHECK(one.net.counted["ballots-used-up"] > 0);
  CHECK(!one.net.sent.empty());
  CHECK(std::all_of(one.net.sent.begin(), one.net.sent.end(),
                    [](auto& s) { return decodes(s.message); }));
}

TEST_CASE("what past rounds said does not wait for a slow link") {
  One one(3);
  one.net.full.insert(one.peer(2));
  constexpr std::uint64_t kRounds = 6;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    one.contribute();
    for (const std::size_t other : {1U, 2U}) {
      one.skip(other, round);
      one.answer(other, other, round);
    }
    one.run_for(milliseconds(20));
    const auto votes = one.sent<Hold>();
    REQUIRE(!votes.empty());
    REQUIRE(votes.back().message.header.round == round);
    one.receive(1, round, std::get<Hold>(votes.back().message.body));
    one.run_for(milliseconds(20));
    REQUIRE(one.group->committed_round() == round);
  }
  one.net.full.clear();
  one.net.sent.clear();
  one.skip(1, kRounds + 1);
  one.run_for(milliseconds(20));
  // The answers that are kept for stragglers still go; what was contributed is settled.
  CHECK(one.sent<Answer>().size() == limits::kRoundsKept);
  CHECK(one.sent<Contribution>().empty());
}

TEST_CASE("an answer that does not decode is held against who issued it") {
  One one(3);
  one.net.dead.insert(one.peer(1));
  one.contribute();
  one.run_for(seconds(1));
  const auto prepares = one.sent<Prepare>();
  REQUIRE(!prepares.empty());
  const Ballot ballot = prepares.front().message.header.ballot;
  one.receive(2, 1, Promise{false, {}, {}, {}, std::vector<Hash256>(3)}, ballot);
  const auto controls = one.sent<Control>();
  REQUIRE(!controls.empty());
  REQUIRE(std::get<Control>(controls.back().message.body).plan.at(1).owner == 2);
  one.skip(2, 1);
  one.answer(2, 1, 1, ballot, 3);  // the dead member's part, reduced in its stead
  one.answer(2, 2, 1, ballot);
  one.run_for(seconds(1));
  CHECK(one.net.penalised["bad-answer"] == std::vector{one.peer(2)});
}

TEST_CASE("what is offloaded reads nothing that dies with the group") {
  // Under AddressSanitizer: the encoding runs when group and map are gone.
  class RealTime final : public StillEndpoint {
   public:
    bool virtual_time() const override { return false; }
  } endpoint;
  class HeldWorkers final : public Workers {
   public:
    void post(Offload, std::function<void()> fn, std::function<void()>) override {
      held.push_back(std::move(fn));
    }
    std::vector<std::function<void()>> held;
  } workers;
  {
    One one(3, &endpoint, &workers);
    one.contribute();
    one.loop.run_ready();
  }
  REQUIRE(workers.held.size() == 1);
  workers.held.front()();
}

TEST_CASE("a joiner's part is as large as its link") {
  One one(3);
  const PeerId joiner = sample_peer(9);
  one.net.sessions[joiner] = 99;
  one.net.rates[joiner] = 500;
  Message m;
  m.header.session = 99;
  m.body = Join{0, 1};
  one.group->on_message(joiner, m);
  one.contribute();
  one.run_for(milliseconds(20));
  const auto controls = one.sent<Control>();
  REQUIRE(!controls.empty());
  const View& next = std::get<Control>(controls.front().message.body).next_view;
  REQUIRE(next.size() == 4);
  CHECK(next.members.back().rate == 500);
  CHECK(next.part(3).size() < next.part(0).size());
}

}  // namespace shoal::comm::tests
