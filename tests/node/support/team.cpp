#include "tests/node/support/team.h"

#include "tests/support/catch.h"

namespace shoal::node::tests {

namespace {

template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? std::string() : result.error().message));
  REQUIRE(result.ok());
  return std::move(result).value();
}

Config config_of(std::size_t peers, std::size_t part, std::vector<std::string> settings) {
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

}  // namespace

Team::Team(std::size_t count, const std::vector<std::string>& settings,
           const std::function<void(std::size_t, std::vector<std::string>&, PeerOptions&)>& adjust)
    : mesh(count), summaries(count), reports(count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> own = settings;
    PeerOptions options;
    if (adjust) {
      adjust(i, own, options);
    }
    const Config config = config_of(count, i, std::move(own));
    PeerOptions configured = peer_options(config);
    configured.checkpoint_folder = options.checkpoint_folder;
    configured.resume_round = options.resume_round;
    configured.model_file = options.model_file;
    configured.metrics_file = options.metrics_file.empty() ? "/dev/null" : options.metrics_file;
    configured.sources.totals = [] { return comm::LinkStats{}; };
    configured.sources.round_trip = [] { return Duration{0}; };
    configured.sources.dropped = [] { return std::map<std::string, std::uint64_t>(); };
    configured.on_round = [this, i](const RoundReport& report) { reports[i].push_back(report); };
    PeerParts parts = must(make_peer_parts(config, Log()));
    granules_ = parts.architecture->map().granule_count();
    peers.push_back(
        std::make_unique<Peer>(mesh.loop(i), mesh.net(i), std::move(parts), std::move(configured)));
  }
}

namespace {

comm::Task<void> run_peer(Peer& peer, PeerStart start, std::optional<PeerSummary>& out) {
  out = co_await peer.run(std::move(start));
}

}  // namespace

void Team::begin() {
  if (begun_) {
    return;
  }
  begun_ = true;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    mesh.loop(i).spawn(run_peer(*peers[i], {mesh.view(granules_), 1}, summaries[i]));
  }
}

void Team::kill(std::size_t i) {
  killed.insert(i);
  mesh.kill(i);
}

void Team::run_until(const std::function<bool()>& done) {
  begin();
  const bool came = mesh.run(done, std::chrono::hours(1));
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

}  // namespace shoal::node::tests
