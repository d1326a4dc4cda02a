#include "comm/membership.h"

#include <memory>
#include <optional>

#include "comm/founding.h"
#include "comm/memory_network.h"
#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kRun = 77;
const char* const kKeys = "seed=1\n";

/// A peer of the run in a memory network, with its membership.
struct Node {
  Node(MemoryNetwork& world, const std::string& name, bool invites,
       const Identity& who = Identity::generate())
      : identity(who), loop(world.add(who.id()), nullptr) {
    world.attach(identity.id(), loop);
    MembershipOptions options{identity, name, {name + ":1"}, kRun, "test", kKeys, invites};
    membership.emplace(loop, std::move(options), Log{});
    SessionHandlers handlers;
    membership->install(handlers);
    SessionOptions session_options;
    session_options.facts.run = kRun;
    session_options.name = name;
    session_options.addresses = {name + ":1"};
    session_options.draw_session = [] { return random_u64() | 1U; };
    session.emplace(loop, std::move(session_options), std::move(handlers), Log{});
  }
  [[nodiscard]] PeerCard card() const { return {identity.id(), "", {"somewhere:1"}}; }
  [[nodiscard]] std::size_t alive() const { return session->alive_peers().size(); }
  [[nodiscard]] bool knows(const PeerId& peer) const {
    for (const PeerCard& known : membership->roster()) {
      if (known.id == peer) {
        return true;
      }
    }
    return false;
  }

  Identity identity;
  Loop loop;
  std::optional<Membership> membership;
  std::optional<Session> session;
};

void acquaint(const std::vector<Node*>& nodes) {
  std::vector<PeerCard> cards;
  for (const Node* node : nodes) {
    cards.push_back(node->card());
  }
  for (Node* node : nodes) {
    node->membership->start(*node->session, cards);
  }
}

/// What became of a guest with this invitation.
struct Guest {
  Guest(MemoryNetwork& world, const Invite& invite, const Identity& own)
      : loop(world.add(invite.guest().id()), nullptr), id(invite.guest().id()), network(world) {
    world.attach(id, loop);
    loop.spawn(run(invite, own));
  }
  ~Guest() { network.detach(id); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  Task<void> run(Invite invite, Identity own) {
    const PeerCard card{own.id(), "joiner", {"joiner:1"}};
    outcome.emplace(co_await introduce(loop, invite, own, card, seconds(20), Log{}));
  }

  Loop loop;
  PeerId id;
  MemoryNetwork& network;
  std::optional<Result<Roster>> outcome;
};

TEST_CASE("membership: an invitation lets a stranger in, and everybody hears of it") {
  MemoryNetwork world({});
  Node a(world, "a", true);
  Node b(world, "b", false);
  acquaint({&a, &b});
  const Identity own = Identity::generate();
  const auto token = Invite::decode(a.membership->invite().encode());
  REQUIRE(token.ok());
  Guest guest(world, *token, own);
  REQUIRE(world.run_until(TimePoint{seconds(30)}, [&] { return guest.outcome.has_value(); }));
  REQUIRE(guest.outcome->ok());
  CHECK((*guest.outcome)->run_keys == kKeys);
  CHECK((*guest.outcome)->peers.size() == 3);
  REQUIRE(world.run_until(TimePoint{seconds(40)}, [&] { return b.knows(own.id()); }));

  Node joiner(world, "joiner", false, own);
  joiner.membership->start(*joiner.session, (*guest.outcome)->peers);
  CHECK(world.run_until(TimePoint{seconds(60)},
                        [&] { return a.alive() == 2 && b.alive() == 2 && joiner.alive() == 2; }));
}

TEST_CASE("membership: news reach a member that was away") {
  MemoryNetwork world({});
  Node a(world, "a", true);
  Node b(world, "b", false);
  acquaint({&a, &b});
  REQUIRE(world.run_until(TimePoint{seconds(10)}, [&] { return a.alive() == 1; }));
  world.cut(a.identity.id(), b.identity.id());
  const Identity own = Identity::generate();
  Guest guest(world, a.membership->invite(), own);
  REQUIRE(world.run_until(TimePoint{seconds(40)}, [&] { return guest.outcome.has_value(); }));
  REQUIRE(guest.outcome->ok());
  CHECK_FALSE(b.knows(own.id()));
  world.heal_all();
  CHECK(world.run_until(TimePoint{seconds(80)}, [&] { return b.knows(own.id()); }));
}

TEST_CASE("membership: whoever runs under the inviter's own key is told so") {
  MemoryNetwork world({});
  Node a(world, "a", true);
  acquaint({&a});
  Guest guest(world, a.membership->invite(), a.identity);
  REQUIRE(world.run_until(TimePoint{seconds(30)}, [&] { return guest.outcome.has_value(); }));
  REQUIRE_FALSE(guest.outcome->ok());
  CHECK(guest.outcome->error().code == Code::kNetwork);
  CHECK(guest.outcome->error().message.find("SHOAL_HOME") != std::string::npos);
}

TEST_CASE("membership: an inviter that is away is named, after patience") {
  MemoryNetwork world({});
  Node a(world, "a", true);
  acquaint({&a});
  const Invite invite = a.membership->invite();
  world.crash(a.identity.id());
  Guest guest(world, invite, Identity::generate());
  REQUIRE(world.run_until(TimePoint{seconds(30)}, [&] { return guest.outcome.has_value(); }));
  REQUIRE_FALSE(guest.outcome->ok());
  CHECK(guest.outcome->error().message.find(a.identity.id().short_id()) != std::string::npos);
}

TEST_CASE("membership: a key is enrolled by its owner and by invitation only") {
  MemoryNetwork world({});
  Node a(world, "a", true);
  Node b(world, "b", false);
  acquaint({&a, &b});
  REQUIRE(world.run_until(TimePoint{seconds(10)}, [&] { return a.alive() == 1; }));
  const Identity victim = Identity::generate();
  const auto try_enrol = [&](const Identity& signer, const PeerId& said_guest) {
    Message message;
    const auto signature = signer.sign(SignedAs::kEnrolment, enrolment_text(kRun, said_guest));
    message.body = Enrol{{victim.id(), "x", {}}, {signature.begin(), signature.end()}};
    return message;
  };
  const PeerId guest = a.membership->invite().guest().id();
  SECTION("a member cannot enrol others") {
    b.session->send(a.identity.id(), Class::kControl, try_enrol(victim, guest));
    CHECK(world.run_until(TimePoint{seconds(20)},
                          [&] { return a.session->counters().contains("enrol-uninvited"); }));
  }
  SECTION("a guest cannot enrol a key that it does not hold") {
    Loop loop(world.add(guest), nullptr);
    world.attach(guest, loop);
    SessionOptions options;
    options.facts = {kRun, {}, {}, true};
    options.name = "guest";
    options.draw_session = [] { return random_u64() | 1U; };
    std::string sentence;
    SessionHandlers handlers;
    handlers.refused = [&](const PeerId&, const Refuse& refuse, bool) {
      sentence = refuse.sentence;
    };
    Session session(loop, options, handlers, Log{});
    session.allow(a.identity.id(), {"a:1"});
    REQUIRE(
        world.run_until(TimePoint{seconds(20)}, [&] { return session.alive(a.identity.id()); }));
    session.send(a.identity.id(), Class::kControl, try_enrol(Identity::generate(), guest));
    CHECK(world.run_until(TimePoint{seconds(40)},
                          [&] { return sentence.find("did not prove") != std::string::npos; }));
    world.detach(guest);
  }
  CHECK_FALSE(a.knows(victim.id()));
}

// --- founding -----------------------------------------------------------------------------------

struct Founder {
  Founder(Node& of, std::size_t members, bool founder) : node(of) {
    options.members = members;
    options.granules = 10;
    options.founder = founder;
    options.branch = 5;
    node.loop.spawn(run());
  }
  Task<void> run() {
    outcome.emplace(co_await wait_for_members(node.loop, *node.session, options,
                                              TimePoint{seconds(30)}, Log{}));
  }
  Node& node;
  FoundingOptions options;
  std::optional<Result<FirstView>> outcome;
};

TEST_CASE("founding: who meets nobody gives up, who met somebody waits on") {
  MemoryNetwork world({});
  Node a(world, "a", false);
  Node b(world, "b", false);
  acquaint({&a, &b});
  Founder met(a, 3, true);
  met.options.alone_within = seconds(5);
  CHECK_FALSE(world.run_until(TimePoint{seconds(10)}, [&] { return met.outcome.has_value(); }));

  Node c(world, "c", false);
  Founder alone(c, 3, false);
  alone.options.alone_within = seconds(5);
  REQUIRE(world.run_until(TimePoint{seconds(20)}, [&] { return alone.outcome.has_value(); }));
  REQUIRE_FALSE(alone.outcome->ok());
  CHECK(alone.outcome->error().code == Code::kNetwork);
  CHECK(alone.outcome->error().message.find("nobody of the run") != std::string::npos);
  // To its deadline; a task that waits must not outlive its session.
  CHECK(world.run_until(TimePoint{seconds(40)}, [&] { return met.outcome.has_value(); }));
}

TEST_CASE("founding: all members begin with one view") {
  MemoryNetwork world({});
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Node*> all;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    nodes.push_back(std::make_unique<Node>(world, name, false));
    all.push_back(nodes.back().get());
  }
  acquaint(all);
  std::vector<std::unique_ptr<Founder>> founders;
  // Five are there for a run of four: one of them finds the run on.
  for (Node* node : all) {
    founders.push_back(std::make_unique<Founder>(*node, 4, node == all[2]));
  }
  REQUIRE(world.run_until(TimePoint{seconds(20)}, [&] {
    return std::all_of(founders.begin(), founders.end(),
                       [](const auto& f) { return f->outcome.has_value(); });
  }));
  REQUIRE(founders[2]->outcome->ok());
  const FirstView& first = **founders[2]->outcome;
  CHECK(first.branch == 5);
  CHECK(first.view.members.size() == 4);
  CHECK(first.view.bounds.front() == 0);
  CHECK(first.view.bounds.back() == 10);
  CHECK(std::is_sorted(first.view.members.begin(), first.view.members.end(),
                       [](const Member& x, const Member& y) { return x.id < y.id; }));
  std::size_t running = 0;
  for (const auto& founder : founders) {
    REQUIRE(founder->outcome->ok());
    const FirstView& other = **founder->outcome;
    running += other.running ? 1 : 0;
    CHECK((other.running || other.view == first.view));
    CHECK(other.running == !first.view.index_of(founder->node.identity.id()).has_value());
  }
  CHECK(running == 1);
}

TEST_CASE("founding: too few members end the wait in words") {
  MemoryNetwork world({});
  Node a(world, "a", false);
  Node b(world, "b", false);
  acquaint({&a, &b});
  Founder one(a, 3, true);
  Founder two(b, 3, false);
  REQUIRE(world.run_until(TimePoint{seconds(40)},
                          [&] { return one.outcome.has_value() && two.outcome.has_value(); }));
  REQUIRE_FALSE(one.outcome->ok());
  CHECK(one.outcome->error().code == Code::kNetwork);
  CHECK(one.outcome->error().message.find("2 of 3") != std::string::npos);
  CHECK_FALSE(two.outcome->ok());
}

TEST_CASE("founding: a member alone begins at once, and what came early is kept") {
  MemoryNetwork world({});
  Node a(world, "a", false);
  acquaint({&a});
  Founder alone(a, 1, true);
  REQUIRE(world.run_until(TimePoint{seconds(1)}, [&] { return alone.outcome.has_value(); }));
  REQUIRE(alone.outcome->ok());
  CHECK((*alone.outcome)->view.members.size() == 1);

  Node b(world, "b", false);
  Node c(world, "c", false);
  acquaint({&b, &c});
  Founder waits(b, 2, false);
  REQUIRE(
      world.run_until(TimePoint{seconds(10)}, [&] { return c.alive() == 1 && b.alive() == 1; }));
  Message early;
  early.header.round = 1;
  early.header.branch = 5;
  early.body = Hold{};
  REQUIRE(c.session->send(b.identity.id(), Class::kControl, early) == SendResult::kOk);
  Founder late(c, 2, true);
  REQUIRE(world.run_until(TimePoint{seconds(20)},
                          [&] { return waits.outcome.has_value() && late.outcome.has_value(); }));
  REQUIRE(waits.outcome->ok());
  CHECK_FALSE((*waits.outcome)->running);
  REQUIRE((*waits.outcome)->early.size() == 1);
  CHECK((*waits.outcome)->early.front().first == c.identity.id());
  CHECK(std::holds_alternative<Hold>((*waits.outcome)->early.front().second.body));
}

TEST_CASE("founding: who comes to a run that is on is told to enter it") {
  MemoryNetwork world({});
  Node a(world, "a", false);
  Node b(world, "b", false);
  acquaint({&a, &b});
  Founder waits(b, 2, false);
  REQUIRE(world.run_until(TimePoint{seconds(10)}, [&] { return a.alive() == 1; }));
  Message stale;
  stale.header.round = 9;
  Stale body;
  body.view.members.push_back({{a.identity.id(), a.session->own_session()}, 0, 1});
  body.view.bounds = {0, 10};
  stale.body = body;
  REQUIRE(a.session->send(b.identity.id(), Class::kControl, stale) == SendResult::kOk);
  REQUIRE(world.run_until(TimePoint{seconds(20)}, [&] { return waits.outcome.has_value(); }));
  REQUIRE(waits.outcome->ok());
  CHECK((*waits.outcome)->running);
}

}  // namespace
TEST_CASE("a roster larger than a header frame is told in pages") {
  MemoryNetwork network({});
  Node inviter(network, "inviter", true);
  Node member(network, "member", false);
  std::vector<PeerCard> cards = {inviter.card(), member.card()};
  constexpr std::size_t kMany = 900;
  for (std::size_t i = 0; i < kMany; ++i) {
    // Seven addresses, as a laptop with container bridges announces: 400 bytes a card.
    cards.push_back({Identity::generate().id(), "a laptop",
                     std::vector<std::string>(7, "[2001:db8:85a3:8d3:1319:8a2e:370:7348]:47700")});
  }
  inviter.membership->start(*inviter.session, cards);
  member.membership->start(*member.session, {inviter.card(), member.card()});
  const auto own = Identity::generate();
  Guest guest(network, inviter.membership->invite(), own);
  network.run_until({seconds(10)});
  CHECK(member.membership->roster().size() >= kMany + 2);
  REQUIRE(guest.outcome);
  REQUIRE(guest.outcome->ok());
  CHECK((*guest.outcome)->peers.size() >= kMany + 2);
  CHECK((*guest.outcome)->run_keys == kKeys);
  CHECK(member.session->counters().count("oversized") == 0);
}

}  // namespace shoal::comm
