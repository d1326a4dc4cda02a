#include "node/data/ledger.h"

#include <algorithm>
#include <numeric>

#include "ops/base/rng.h"
#include "tests/support/budget.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using comm::MemberId;
using node::DataRange;
using node::Ledger;
using node::RoundOutcome;
using node::Share;

MemberId member(std::uint8_t peer, std::uint64_t session = 1) {
  MemberId id;
  id.peer.key[0] = std::byte{peer};
  id.session = session;
  return id;
}

std::uint64_t size_of(const std::vector<DataRange>& ranges) {
  return std::accumulate(ranges.begin(), ranges.end(), std::uint64_t{0},
                         [](std::uint64_t n, const auto& r) { return n + r.range.size(); });
}

std::vector<MemberId> members_of(const std::vector<Share>& shares) {
  std::vector<MemberId> members;
  for (const auto& share : shares) {
    members.push_back(share.member);
  }
  return members;
}

Ledger reloaded(const Ledger& ledger) {
  ByteWriter out;
  ledger.save(out);
  ByteReader in(out.span());
  auto loaded = Ledger::load(in);
  REQUIRE(loaded.ok());
  REQUIRE(in.left() == 0);
  return std::move(loaded).value();
}

TEST_CASE("a batch is cut in member order, in proportion, largest remainders first") {
  Ledger ledger(1000, 1);
  const auto dealt = ledger.assign(1, {{member(1), 1}, {member(2), 2}, {member(3), 4}}, 10);
  REQUIRE(dealt.ok());
  // 10/7 = 1.43, 20/7 = 2.86, 40/7 = 5.71: the missing two go to the second and the third.
  CHECK((*dealt)[0] == std::vector<DataRange>{{0, {0, 1}}});
  CHECK((*dealt)[1] == std::vector<DataRange>{{0, {1, 4}}});
  CHECK((*dealt)[2] == std::vector<DataRange>{{0, {4, 10}}});
}

TEST_CASE("weights that add up to the total are the counts, and zero weights get nothing") {
  Ledger ledger(100, 1);
  const auto dealt = ledger.assign(1, {{member(1), 7}, {member(2), 0}, {member(3), 13}}, 20);
  REQUIRE(dealt.ok());
  CHECK(size_of((*dealt)[0]) == 7);
  CHECK((*dealt)[1].empty());
  CHECK(size_of((*dealt)[2]) == 13);
  REQUIRE(ledger.settle({1, {member(1), member(3)}, {true, true}, {member(1)}}).ok());
  const auto nothing = ledger.assign(2, {{member(1), 0}}, 20);
  REQUIRE(nothing.ok());
  CHECK((*nothing)[0].empty());
  CHECK(reloaded(ledger) == ledger);  // no position was lost
}

TEST_CASE("speeds become the same integers everywhere") {
  CHECK(node::share_weight(1.0) == 1024);
  CHECK(node::share_weight(0.5) == 512);
  CHECK(node::share_weight(0.0) == 1);
  CHECK(node::share_weight(-3.0) == 1);
  CHECK(node::share_weight(std::numeric_limits<double>::quiet_NaN()) == 1);
  CHECK(node::share_weight(std::numeric_limits<double>::infinity()) == 1U << 24U);
}

TEST_CASE("who is left out keeps its lease until it is included") {
  Ledger ledger(100, 1);
  const std::vector<Share> two = {{member(1), 1}, {member(2), 1}};
  const auto both = members_of(two);
  REQUIRE(ledger.assign(1, two, 10).ok());
  const auto first = ledger.settle({1, both, {true, false}, both});
  REQUIRE(first.ok());
  CHECK(first->seen == std::vector<DataRange>{{0, {0, 5}}});
  CHECK(ledger.seen(0) == 5);
  CHECK(ledger.leases_of(member(2)) == std::vector<DataRange>{{0, {5, 10}}});
  REQUIRE(ledger.assign(2, two, 10).ok());
  CHECK(size_of(ledger.leases_of(member(2))) == 10);
  const auto second = ledger.settle({2, both, {true, true}, both});
  REQUIRE(second.ok());
  CHECK(size_of(second->seen) == 15);
  CHECK(ledger.seen(0) == 20);
}

TEST_CASE("what a lost member held is handed out again before anything new") {
  Ledger ledger(100, 2);
  const std::vector<Share> two = {{member(1), 1}, {member(2), 1}};
  REQUIRE(ledger.assign(1, two, 10).ok());
  const auto lost = ledger.settle({1, members_of(two), {true, false}, {member(1)}});
  REQUIRE(lost.ok());
  CHECK(lost->returned == std::vector<DataRange>{{0, {5, 10}}});
  // A restarted process is another member: its old lease is not its own any more.
  const auto dealt = ledger.assign(2, {{member(1), 1}, {member(2, 2), 1}}, 10);
  REQUIRE(dealt.ok());
  CHECK((*dealt)[0] == std::vector<DataRange>{{0, {5, 10}}});
  CHECK((*dealt)[1] == std::vector<DataRange>{{0, {10, 15}}});
}

TEST_CASE("a batch ends with its epoch, and the last epoch ends the data") {
  Ledger ledger(10, 2);
  const std::vector<Share> one = {{member(1), 1}};
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t round = 1; !ledger.exhausted(); ++round) {
    const auto dealt = ledger.assign(round, one, 4);
    REQUIRE(dealt.ok());
    sizes.push_back(size_of((*dealt)[0]));
    REQUIRE(ledger.settle({round, {member(1)}, {true}, {member(1)}}).ok());
  }
  CHECK(sizes == std::vector<std::uint64_t>{4, 4, 2, 4, 4, 2});
  Ledger whole(10, 1);  // a batch larger than an epoch is the epoch
  const auto everything = whole.assign(1, one, ~std::uint64_t{0});
  REQUIRE(everything.ok());
  CHECK(size_of((*everything)[0]) == 10);
  CHECK(ledger.complete());
  CHECK(ledger.seen(0) == 10);
  CHECK(ledger.seen_total() == 20);
  const auto rest = ledger.assign(7, one, 4);
  REQUIRE(rest.ok());
  CHECK((*rest)[0].empty());
}

TEST_CASE("a ledger refuses rounds out of order and members twice") {
  Ledger ledger(100, 1);
  const std::vector<Share> one = {{member(1), 1}};
  CHECK_FALSE(ledger.settle({1, {member(1)}, {true}, {}}).ok());
  REQUIRE(ledger.assign(3, one, 4).ok());
  const Ledger before = ledger;
  CHECK_FALSE(ledger.assign(4, one, 4).ok());
  CHECK_FALSE(ledger.settle({4, {member(1)}, {true}, {}}).ok());
  CHECK_FALSE(ledger.settle({3, {member(1)}, {true, true}, {}}).ok());
  CHECK(ledger == before);
  REQUIRE(ledger.settle({3, {member(1)}, {true}, {member(1)}}).ok());
  CHECK_FALSE(ledger.assign(3, one, 4).ok());
  CHECK_FALSE(ledger.assign(4, {}, 4).ok());
  CHECK_FALSE(ledger.assign(4, {{member(1), 1}, {member(1), 1}}, 4).ok());
}

/// Random churn over a ledger; `seen` counts how often each position of each epoch was seen.
struct Churn {
  explicit Churn(std::uint64_t seed)
      : rng(seed, 0), ledger(1 + rng.below(400), 1 + rng.below(4)), replica(ledger) {
    view = {{member(0), 1024}};
    seen.assign(ledger.epochs(), std::vector<int>(ledger.samples(), 0));
  }

  void count(const std::vector<DataRange>& ranges) {
    for (const auto& r : ranges) {
      for (std::uint64_t p = r.range.begin; p < r.range.end; ++p) {
        ++seen[r.epoch][p];
      }
    }
  }

  /// Who is in the next round: some leave, some come back under a new session.
  std::vector<Share> next_view(bool calm) {
    std::vector<Share> next;
    for (const auto& share : view) {
      if (calm || rng.below(8) != 0) {
        next.push_back(share);
      }
    }
    if (next.empty() || (!calm && next.size() < 9 && rng.below(4) == 0)) {
      next.push_back({member(static_cast<std::uint8_t>(rng.below(12)), ++sessions),
                      static_cast<std::uint32_t>(rng.below(4000))});
    }
    return next;
  }

  void step(bool calm) {
    ++round;
    const std::uint64_t total = rng.below(90) + (calm ? 1 : 0);
    if (calm) {
      for (auto& share : view) {
        share.weight = 1;
      }
    }
    const auto dealt = ledger.assign(round, view, total);
    REQUIRE(dealt.ok());
    RoundOutcome outcome{round, members_of(view), {}, {}};
    for (std::size_t i = 0; i < view.size(); ++i) {
      outcome.included.push_back(calm || rng.below(5) != 0);
    }
    const auto next = next_view(calm);
    outcome.next = members_of(next);
    const auto settled = ledger.settle(outcome);
    REQUIRE(settled.ok());
    count(settled->seen);

    // Another machine comes to the same state, also through a checkpoint.
    REQUIRE(replica.assign(round, view, total).ok());
    replica = reloaded(replica);
    REQUIRE(replica.settle(outcome).ok());
    REQUIRE(replica == ledger);
    view = next;
  }

  Rng rng;
  Ledger ledger;
  Ledger replica;
  std::vector<Share> view;
  std::vector<std::vector<int>> seen;
  std::uint64_t round = 0;
  std::uint64_t sessions = 1;
};

TEST_CASE("under any churn each sample of an epoch is seen exactly once", "[long]") {
  const std::uint64_t seed = test_seed(20260101);
  Budget budget(std::chrono::seconds(2));
  for (std::uint64_t trial = 0; trial < 2000 && budget.left(); ++trial) {
    INFO("trial " << trial);
    Churn churn(mix(seed, trial));
    while (!churn.ledger.complete() && churn.round < 10'000) {
      churn.step(churn.round > 150);
    }
    REQUIRE(churn.ledger.complete());
    REQUIRE(churn.ledger.exhausted());
    for (const auto& epoch : churn.seen) {
      REQUIRE(std::all_of(epoch.begin(), epoch.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST_CASE("a resumed ledger hands outstanding leases out again") {
  Ledger ledger(100, 1);
  REQUIRE(ledger.assign(1, {{member(1), 1}, {member(2), 1}}, 10).ok());
  Ledger resumed = reloaded(ledger);
  resumed.return_all();
  const auto dealt = resumed.assign(1, {{member(1, 2), 1}}, 10);
  REQUIRE(dealt.ok());
  CHECK((*dealt)[0] == std::vector<DataRange>{{0, {0, 10}}});
}

TEST_CASE("bytes that no ledger writes are refused") {
  Ledger ledger(100, 3);
  const std::vector<Share> three = {{member(1), 1}, {member(2), 1}, {member(3), 1}};
  REQUIRE(ledger.assign(1, three, 30).ok());
  REQUIRE(ledger.settle({1, members_of(three), {true, false, false}, {member(1), member(2)}}).ok());
  ByteWriter out;
  ledger.save(out);
  const auto good = out.take();
  for (std::size_t size = 0; size < good.size(); ++size) {
    ByteReader in(ByteSpan(good).first(size));
    const auto loaded = Ledger::load(in);
    REQUIRE_FALSE(loaded.ok());
    REQUIRE(loaded.error().code == Code::kData);
  }
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    ByteReader in(bad);
    const auto loaded = Ledger::load(in);
    refused += loaded.ok() ? 0 : 1;
    if (loaded.ok()) {  // a lawful ledger, then: it keeps its promise
      ByteWriter again;
      loaded->save(again);
      REQUIRE(std::equal(again.span().begin(), again.span().end(), bad.begin(), bad.end()));
    }
  }
  CHECK(refused > good.size() * 3);  // names, sessions and round numbers may be any
}

}  // namespace
}  // namespace shoal::tests
