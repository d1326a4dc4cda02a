// How long rounds take over links of every speed when each link's codec is picked by cost, beside
// the same rounds with one codec throughout. Virtual time: what is compared is the choice.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "comm/group_mean.h"
#include "comm/memory_network.h"
#include "comm/session.h"
#include "tests/support/catch.h"

using namespace shoal;
using namespace shoal::comm;

namespace {

constexpr std::uint64_t kElements = 1 << 18;
constexpr std::uint64_t kRounds = 9;
constexpr std::uint64_t kLearning = 3;  ///< rounds: no rate is known, then fp32 is still under way

CodecChoice choice_of(const std::vector<std::string>& names) {
  std::vector<CodecOffer> offers;
  for (const auto& name : names) {
    std::shared_ptr<const compress::Codec> codec = compress::make_codec(name, {}).value();
    offers.push_back({name, codec, compress::nominal_cost(*codec)});
  }
  return CodecChoice(std::move(offers));
}

PeerId peer_id(std::size_t i) {
  PeerId id;
  id.key[0] = static_cast<std::byte>(i + 1);
  return id;
}

/// A peer that contributes without end and keeps no state.
class Peer final : public GroupHost {
 public:
  Peer(MemoryNetwork& net, std::size_t index, const ParamMap& map, const CodecChoice& choice)
      : net_(net),
        id_(peer_id(index)),
        loop_(net.add(id_), nullptr),
        session_(loop_, session_options(map, index), SessionHandlers{}, Log{}),
        choice_(choice),
        group_(loop_, session_, *this, map, choice, GroupOptions{}, Log{}),
        x_(static_cast<std::size_t>(map.flat_size()), 0.25F) {
    session_.set_receiver(&group_);
    net.attach(id_, loop_);
  }
  ~Peer() override { net_.detach(id_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  ControlInput control(std::uint64_t) override { return {}; }
  std::uint64_t applied_round() const override { return applied_; }
  std::optional<Bytes> snapshot() override { return Bytes(); }
  Status restore(const Bytes&, std::uint64_t) override { return {}; }
  std::optional<Hash256> state_hash() override { return std::nullopt; }
  void committed(const RoundRecord&) override {}

  void start(const View& view) {
    group_.start(7, view, 0, Hash256{});
    loop_.spawn(work());
  }
  void allow(const PeerId& other) { session_.allow(other, {"memory"}); }
  [[nodiscard]] std::size_t connected() const { return session_.alive_peers().size(); }
  [[nodiscard]] MemberId member() const { return {id_, session_.own_session()}; }
  [[nodiscard]] const GroupStats& stats() const { return group_.stats(); }
  [[nodiscard]] bool done() const { return ends_.size() == kRounds; }
  [[nodiscard]] double round_s() const {
    return seconds(ends_.back() - ends_[kLearning - 1]) / static_cast<double>(kRounds - kLearning);
  }

 private:
  static SessionOptions session_options(const ParamMap& map, std::size_t index) {
    SessionOptions options;
    options.facts.run = 77;
    options.facts.model_hash = map.model_hash();
    options.draw_session = [next = index + 1]() mutable { return next++ * 0x10000 + 1; };
    return options;
  }
  Task<void> work() {
    while (!done()) {
      const auto mean = co_await group_.mean(x_, 1, choice_);
      REQUIRE(mean.ok());
      applied_ = mean->record.round;
      ends_.push_back(loop_.now());
    }
  }

  MemoryNetwork& net_;
  PeerId id_;
  Loop loop_;
  Session session_;
  CodecChoice choice_;
  GroupMean group_;
  std::vector<float> x_;
  std::uint64_t applied_ = 0;
  std::vector<TimePoint> ends_;
};

struct Outcome {
  double round_s = 0;
  std::map<std::string, std::uint64_t> encoded;
};

/// Rounds of `peers` over links that each carry `rate` bytes/s up and down (0: no bound).
Outcome rounds(std::size_t peers, double rate, const std::vector<std::string>& codecs) {
  MemoryNetwork::Options options;
  options.codec = false;
  options.link.latency = std::chrono::milliseconds(1);
  MemoryNetwork net(options);
  ParamMap map;
  Param weights;
  weights.name = "weights";
  weights.shape = {static_cast<std::int64_t>(kElements)};
  REQUIRE(map.add(weights).ok());
  map.seal();
  const CodecChoice choice = choice_of(codecs);
  std::vector<std::unique_ptr<Peer>> all;
  View view;
  view.number = 1;
  for (std::size_t i = 0; i < peers; ++i) {
    all.push_back(std::make_unique<Peer>(net, i, map, choice));
    net.set_rates(peer_id(i), rate, rate);
    view.members.push_back({all.back()->member(), 0, 1});
  }
  view.bounds = balance_bounds(view.members, map.granule_count());
  for (std::size_t i = 0; i < peers; ++i) {
    for (std::size_t j = 0; j < peers; ++j) {
      if (i != j) {
        all[i]->allow(peer_id(j));
      }
    }
  }
  REQUIRE(net.run_until(TimePoint{std::chrono::seconds(5)}, [&] {
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& p) { return p->connected() + 1 == peers; });
  }));
  for (const auto& p : all) {
    p->start(view);
  }
  REQUIRE(net.run_until(TimePoint{std::chrono::hours(2)}, [&] {
    return std::all_of(all.begin(), all.end(), [](const auto& p) { return p->done(); });
  }));
  return {all.front()->round_s(), all.front()->stats().encoded};
}

}  // namespace

TEST_CASE("auto codec: never 5 % slower than the better of fp32 and int8", "[auto_codec]") {
  for (const std::size_t peers : {2U, 4U, 7U}) {
    for (double mbit = 1; mbit < 11'000; mbit *= std::sqrt(10.0)) {
      const double rate = mbit * 1e6 / 8;
      const double fp32 = rounds(peers, rate, {"fp32"}).round_s;
      const double int8 = rounds(peers, rate, {"int8"}).round_s;
      const Outcome picked = rounds(peers, rate, {"fp32", "int8"});
      CAPTURE(peers, mbit, fp32, int8, picked.round_s);
      CHECK(picked.round_s <= 1.05 * std::min(fp32, int8));
    }
  }
}

TEST_CASE("auto codec: fp32 where links have no bound, a codec at 20 Mbit/s", "[auto_codec]") {
  const Outcome loopback = rounds(4, 0, {"fp32", "bf16", "int8"});
  CHECK(loopback.encoded.size() == 1);
  CHECK(loopback.encoded.count("fp32") == 1);
  const Outcome slow = rounds(4, 20e6 / 8, {"fp32", "bf16", "int8"});
  const auto fp32 = slow.encoded.find("fp32");
  REQUIRE(slow.encoded.count("int8") == 1);
  // Three parts and an answer a round; only in the first is no rate known.
  CHECK(slow.encoded.at("int8") >= 4 * (kRounds - 1) - 1);
  CHECK((fp32 == slow.encoded.end() || fp32->second <= 5));
}
