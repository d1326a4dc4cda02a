#include "tests/node/support/team.h"

namespace shoal::node::tests {
namespace {

comm::Identity identity_of(std::size_t i) {
  comm::Seed seed{};
  seed[0] = static_cast<std::byte>(i + 1);
  return comm::Identity::from_seed(seed);
}

comm::PeerId id_of(std::size_t i) { return identity_of(i).id(); }

comm::Task<void> run_host(PeerHost& host, std::optional<PeerSummary>& out) {
  out = co_await host.run();
}

}  // namespace

struct Team::Member {
  Member(comm::Endpoint& endpoint) : loop(endpoint, nullptr) {}  // NOLINT: one argument is all
  comm::Loop loop;
  std::unique_ptr<PeerHost> host;
};

Team::Team(std::size_t count, const std::vector<std::string>& settings,
           const std::function<void(std::size_t, Changes&)>& adjust)
    : summaries(count), reports(count), network_({}) {
  for (std::size_t i = 0; i < count; ++i) {
    Changes changes{settings, "", std::nullopt};
    if (adjust) {
      adjust(i, changes);
    }
    add(i, count, changes);
  }
}

Config Team::config(std::size_t peers, std::size_t part, const std::vector<std::string>& settings) {
  std::vector<std::string> all = {"data.name=synthetic",
                                  "data.train_samples=512",
                                  "data.test_samples=256",
                                  "model.layers=[16, 16, 4]",
                                  "train.batch=64",
                                  "train.epochs=4",
                                  "train.lr=0.05",
                                  "run.reproducible=true",
                                  "device.name=cpu",
                                  "swarm.peers=" + std::to_string(peers),
                                  "data.part=" + std::to_string(part)};
  all.insert(all.end(), settings.begin(), settings.end());
  return must(load_config(full_schema(), {std::nullopt, {}, std::move(all)}));
}

Team::~Team() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    network_.detach(id_of(i));
  }
}

void Team::add(std::size_t i, std::size_t count, const Changes& changes) {
  members_.push_back(std::make_unique<Member>(network_.add(id_of(i))));
  Member& member = *members_.back();
  network_.attach(id_of(i), member.loop);
  const Config config = Team::config(count, i, changes.settings);
  HostOptions options{
      {identity_of(i), "peer " + std::to_string(i), {"memory:1"}, 1, "test", "", false},
      {},
      count,
      i == 0,
      {},
      0,
      {},
      std::chrono::seconds(60),
      {}};
  options.keys_hash = config.run_keys_hash();
  options.draw_session = [next = i + 100]() mutable { return next += 1000; };
  for (std::size_t other = 0; other < count; ++other) {
    options.roster.push_back({id_of(other), "peer " + std::to_string(other), {"memory:1"}});
  }
  options.peer = peer_options(config);
  options.peer.metrics_file = "/dev/null";
  options.peer.checkpoint_folder = changes.checkpoint_folder;
  options.peer.resume_round = changes.resume_round;
  options.peer.on_round = [this, i](const RoundReport& report) { reports[i].push_back(report); };
  member.host = std::make_unique<PeerHost>(member.loop, must(make_peer_parts(config, Log())),
                                           std::move(options));
}

PeerHost& Team::host(std::size_t i) { return *members_[i]->host; }
const SharedState& Team::state(std::size_t i) { return host(i).peer().worker().state(); }

void Team::kill(std::size_t i) {
  killed.insert(i);
  network_.crash(id_of(i));
}

void Team::run_until(const std::function<bool()>& done) {
  if (!begun_) {
    begun_ = true;
    for (std::size_t i = 0; i < size(); ++i) {
      members_[i]->loop.spawn(run_host(host(i), summaries[i]));
    }
  }
  const bool came = network_.run_until(network_.now() + std::chrono::hours(1), done);
  REQUIRE(came);
}

void Team::run() {
  run_until([this] {
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      if (!summaries[i].has_value() && !killed.contains(i)) {
        return false;
      }
    }
    return true;
  });
}

void require_equal_replicas(const Team& team) {
  std::string hash;
  for (std::size_t i = 0; i < team.summaries.size(); ++i) {
    if (team.killed.contains(i)) {
      continue;
    }
    INFO("peer " << i << ": " << team.summaries[i]->error);
    REQUIRE(team.summaries[i]->status == "done");
    hash = hash.empty() ? team.summaries[i]->parameter_hash : hash;
    CHECK(team.summaries[i]->parameter_hash == hash);
  }
}

}  // namespace shoal::node::tests
