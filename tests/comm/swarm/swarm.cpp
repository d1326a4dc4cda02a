#include "tests/comm/swarm/swarm.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/base/rng.h"
#include "tests/comm/swarm/peer.h"

namespace shoal::comm::tests {
namespace {

std::shared_ptr<const compress::Codec> codec_named(const std::string& name) {
  for (const auto& entry : compress::registry()) {
    if (entry.name == name) {
      return entry.make(Options::defaults(entry.options));
    }
  }
  SHOAL_CHECK(false, "a codec of the registry");
}

MemoryNetwork::Options network_options(const SwarmOptions& options) {
  MemoryNetwork::Options o;
  o.seed = options.seed;
  o.codec = options.wire;
  o.link = options.link;
  return o;
}

}  // namespace

Swarm::Swarm(SwarmOptions options)
    : options_(std::move(options)),
      codec_(codec_named(options_.codec)),
      answer_codec_(codec_named(options_.answer_codec)),
      net_(std::make_unique<MemoryNetwork>(network_options(options_))) {
  if (options_.tensors.empty() && options_.elements > 0) {
    options_.tensors = {{static_cast<std::int64_t>(options_.elements)}};
  }
  for (const auto& shape : options_.tensors) {
    Param p;
    p.name = "weights" + std::to_string(map_.params().size());
    p.shape = shape;
    SHOAL_CHECK(map_.add(p).ok(), "a good parameter");
  }
  map_.seal();
  options_.group.run_seed = options_.seed;
  net_->on_crash = [this](const PeerId& peer) {
    auto& slot = peers_[index(peer)];
    if (slot) {
      graveyard_.push_back(std::move(slot));
    }
  };
  View view;
  view.number = 1;
  for (std::size_t i = 0; i < options_.peers; ++i) {
    launch(i);
    view.members.push_back({{id(i), peers_[i]->session_.own_session()}, 0, 1});
  }
  view.bounds = balance_bounds(view.members, map_.granule_count(),
                               cuts_of(answer_codec_, std::make_shared<const ParamMap>(map_)));
  connect_all();
  const bool connected = net_->run_until(TimePoint{std::chrono::seconds(5)}, [this] {
    return std::all_of(peers_.begin(), peers_.end(), [this](const auto& p) {
      return p->session_.alive_peers().size() + 1 == peers_.size();
    });
  });
  SHOAL_CHECK(connected, "the first members say hello");
  for (const auto& p : peers_) {
    p->start(view);
  }
}

Swarm::~Swarm() {
  net_->on_crash = nullptr;
  net_->on_send = nullptr;
}

PeerId Swarm::id(std::size_t i) const {
  PeerId p;
  p.key[0] = static_cast<std::byte>(i + 1);
  return p;
}

std::size_t Swarm::index(const PeerId& peer) const {
  return std::to_integer<std::size_t>(peer.key[0]) - 1;
}

Swarm::Peer& Swarm::launch(std::size_t i) {
  peers_.resize(std::max(peers_.size(), i + 1));
  const std::uint64_t life = 1 + i + peers_.size() * graveyard_.size();
  peers_[i] = std::make_unique<Peer>(*this, i, life);
  return *peers_[i];
}

void Swarm::connect_all() {
  for (const auto& p : peers_) {
    for (std::size_t j = 0; p && j < peers_.size(); ++j) {
      if (peers_[j] && peers_[j].get() != p.get()) {
        p->session_.allow(id(j), {"memory"});
      }
    }
  }
}

void Swarm::join(std::size_t i) {
  launch(i);
  connect_all();
  peers_[i]->enter();
}

void Swarm::corrupt(std::size_t i) { peers_[i]->state_[0] += 1; }

bool Swarm::finished(std::size_t i) const {
  return i < peers_.size() && peers_[i] && peers_[i]->result_ == "done";
}
const std::vector<float>& Swarm::state(std::size_t i) const { return peers_[i]->state_; }
const GroupMean& Swarm::group(std::size_t i) const { return peers_[i]->group_; }
bool Swarm::balances(const std::vector<std::size_t>& peers, std::uint64_t rounds) const {
  const Peer& judge = *peers_[peers.front()];
  std::vector<double> total(judge.total_.size(), 0.0);
  for (const std::size_t i : peers) {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      const auto x = input(i, round);
      for (std::size_t e = 0; e < x.size(); ++e) {
        total[e] += kWeight * static_cast<double>(x[e]);
      }
    }
  }
  const double weight = kWeight * static_cast<double>(peers.size() * rounds);
  return total == judge.total_ && std::all_of(judge.weights_.begin(), judge.weights_.end(),
                                              [&](double w) { return w == weight; });
}

std::uint64_t Swarm::applied(std::size_t i) const { return peers_[i]->applied_; }

std::vector<float> Swarm::input(std::size_t i, std::uint64_t round) const {
  std::vector<float> x(static_cast<std::size_t>(map_.flat_size()), 0.0F);
  for (std::uint64_t g = 0; g < map_.granule_count(); ++g) {
    for (std::uint64_t e = g * kGranule; e < g * kGranule + map_.granule_elements(g); ++e) {
      const auto value = static_cast<int>(mix(mix(i, round), e) % 17) - 8;
      x[static_cast<std::size_t>(e)] = static_cast<float>(value);
    }
  }
  if (options_.distort) {
    options_.distort(i, round, x);
  }
  return x;
}

bool Swarm::everybody_done() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& p) { return !p || !p->result_.empty(); });
}

bool Swarm::may_stop(std::uint64_t round) const {
  if (round < options_.rounds) {
    return false;
  }
  const bool waited_long = net_->now() > TimePoint{std::chrono::seconds(60)};
  return !options_.wait_for_laggards || waited_long ||
         std::all_of(peers_.begin(), peers_.end(), [&](const auto& p) {
           return p && (!p->result_.empty() || p->applied_ + 2 > round);
         });
}

std::vector<std::string> Swarm::run(Duration limit) {
  net_->run_until(TimePoint{limit}, [this] { return everybody_done(); });
  ended_ = net_->now();
  judge_end();
  return problems_;
}

void Swarm::judge_commit(const Peer& peer, const RoundRecord& record) {
  const RoundKey key{peer.group_.branch(), record.round};
  const auto [it, fresh] = commits_.try_emplace(key, record.hash);
  if (!fresh && it->second != record.hash) {
    problem("two commits for round " + std::to_string(record.round) + " of one branch");
  }
  const Hash256 codec_state = hash_of(peer.group_.codec_state().span());
  if (codec_states_.try_emplace(key, codec_state).first->second != codec_state) {
    problem("two states of the codec after round " + std::to_string(record.round));
  }
  std::set<std::vector<std::uint16_t>> sets;
  for (std::size_t p = 0; p < record.view.size(); ++p) {
    if (!record.view.part(p).empty()) {
      sets.insert(record.contributors[p]);
    }
  }
  if (options_.group.atomic && sets.size() > 1) {
    problem("round " + std::to_string(record.round) + ": parts have unlike contributors");
  }
}

/// With fp32 and whole numbers the weighted sum comes back exactly from mean and divisor.
void Swarm::judge_mean(const Peer& peer, const Mean& mean) {
  if (!codec_->properties().lossless || !answer_codec_->properties().lossless) {
    return;
  }
  const auto& view = mean.record.view;
  std::vector<float> divisor(mean.values.size(), 0.0F);
  for (const auto& run : mean.divisors) {
    std::fill(divisor.begin() + static_cast<std::ptrdiff_t>(run.granules.begin * kGranule),
              divisor.begin() + static_cast<std::ptrdiff_t>(run.granules.end * kGranule),
              static_cast<float>(run.weight));
  }
  for (std::size_t p = 0; p < view.size(); ++p) {
    const Range part = view.part(p);
    std::vector<const std::vector<float>*> sums;
    for (const auto member : mean.record.contributors[p]) {
      const auto it =
          sums_.find({{peer.group_.branch(), mean.record.round}, view.members[member].id});
      if (it == sums_.end()) {
        return;  // a contributor that is no longer followed
      }
      sums.push_back(&it->second);
    }
    for (std::size_t e = part.begin * kGranule; e < part.end * kGranule; ++e) {
      float total = 0;
      for (const auto* s : sums) {
        total += (*s)[e];
      }
      if (std::round(mean.values[e] * divisor[e]) != total) {
        problem("round " + std::to_string(mean.record.round) + ": the sum is " +
                std::to_string(mean.values[e] * divisor[e]) + ", contributions give " +
                std::to_string(total));
        return;
      }
    }
  }
}

void Swarm::judge_dropped(const Peer& peer, const RoundRecord& record, std::size_t member) {
  if (record.included(member)) {
    problem("round " + std::to_string(record.round) + ": the contribution of peer " +
            std::to_string(peer.index_) + " was refused, yet it is in some part");
  }
}

void Swarm::judge_end() {
  std::map<RoundKey, Hash256> states;
  const bool any_done = std::any_of(peers_.begin(), peers_.end(),
                                    [](const auto& p) { return p && p->result_ == "done"; });
  for (const auto& p : peers_) {
    if (!p) {
      continue;
    }
    const std::string name = "peer " + std::to_string(p->index_);
    if (p->result_.empty()) {
      problem(name + " is stuck in round " + std::to_string(p->group_.next_round()));
    } else if (p->result_ != "done" && !(any_done && options_.wait_for_laggards)) {
      // A joiner may come, or a pause end, after the run has: that is said, and no fault.
      problem(name + " ended with: " + p->result_);
    } else if (p->result_ == "done") {
      const auto hash = hash_of(std::as_bytes(std::span(p->state_)));
      const auto [it, fresh] = states.try_emplace({p->group_.branch(), p->applied_}, hash);
      if (!fresh && it->second != hash) {
        problem(name + " ended with another state");
      }
    }
    const auto pending = p->group_.carry().pending();
    if (p->result_ == "done" && p->group_.stats().repairs == 0 && p->group_.stats().forks == 0 &&
        std::any_of(pending.begin(), pending.end(), [](double w) { return w != 0; })) {
      problem(name + " ended with samples that are in no mean");
    }
    for (const auto& info : p->session_.peers()) {
      if (info.state == "banned") {
        problem(name + " banned an honest peer");
      }
    }
    for (const auto* reason : {"wrong-part", "wrong-control", "wrong-member", "wrong-promise",
                               "two-answers", "not-the-leader", "bad-answer", "bad-state"}) {
      if (p->session_.counters().contains(reason)) {
        problem(name + " penalised an honest peer: " + reason);
      }
    }
  }
}

}  // namespace shoal::comm::tests
