#include "tests/node/support/team.h"

#include <limits>

namespace shoal::node::tests {
namespace {

comm::Identity identity_of(std::size_t i) {
  comm::Seed seed{};
  seed[0] = static_cast<std::byte>(i + 1);
  return comm::Identity::from_seed(seed);
}

/// Somebody's samples after a disk went bad.
class Poisoned final : public Dataset {
 public:
  explicit Poisoned(std::shared_ptr<Dataset> sound) : sound_(std::move(sound)) {}
  std::uint32_t size(Split split) const override { return sound_->size(split); }
  const ops::Port& input() const override { return sound_->input(); }
  std::int64_t classes() const override { return sound_->classes(); }
  std::span<const std::int32_t> labels(Split split) const override { return sound_->labels(split); }
  std::uint64_t held_bytes(std::uint64_t count) const override { return sound_->held_bytes(count); }
  Status hold(Split split, std::span<const std::uint32_t> indices) override {
    return sound_->hold(split, indices);
  }

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    SHOAL_TRY(sound_->fill(pick, x, targets));
    if (pick.split == Split::kTrain) {
      x.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    }
    return {};
  }

 private:
  std::shared_ptr<Dataset> sound_;
};

comm::Task<void> run_host(PeerHost& host, std::optional<PeerSummary>& out) {
  out = co_await host.run();
}

}  // namespace

struct Team::Member {
  Member(comm::Endpoint& endpoint) : loop(endpoint, nullptr) {}  // NOLINT: one argument is all
  comm::Loop loop;
  std::unique_ptr<PeerHost> host;
  std::shared_ptr<const Trainer> trainer;
};

Team::Team(std::size_t count, const std::vector<std::string>& settings,
           const std::function<void(std::size_t, Changes&)>& adjust, std::size_t late)
    : summaries(count), reports(count), network_({}), late_(late) {
  for (std::size_t i = 0; i < count; ++i) {
    Changes changes;
    changes.settings = settings;
    if (adjust) {
      adjust(i, changes);
    }
    add(i, count, changes);
    if (i + late >= count) {
      killed.insert(i);  // as good as, until it joins
    }
  }
}

Config Team::config(std::size_t peers, std::size_t part, const std::vector<std::string>& settings) {
  std::vector<std::string> all = {"data.name=synthetic",
                                  "data.synthetic.train_samples=512",
                                  "data.synthetic.test_samples=256",
                                  "model.mlp.layers=[16, 16, 4]",
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
    network_.detach(id(i));
  }
}

void Team::add(std::size_t i, std::size_t count, const Changes& changes) {
  members_.push_back(std::make_unique<Member>(network_.add(id(i))));
  Member& member = *members_.back();
  network_.attach(id(i), member.loop);
  const Config config = Team::config(count - late_, i, changes.settings);
  HostOptions options{
      {identity_of(i), "peer " + std::to_string(i), {"memory:1"}, 1, "test", "", false},
      {},
      count - late_,
      Team::id(0),
      {},
      0,
      {},
      changes.held,
      std::chrono::seconds(60),
      {}};
  options.keys_hash = config.run_keys_hash();
  options.draw_session = [next = i + 100]() mutable { return next += 1000; };
  for (std::size_t other = 0; other < count; ++other) {
    options.roster.push_back({id(other), "peer " + std::to_string(other), {"memory:1"}});
  }
  options.peer = peer_options(config, ops::DeviceKind::kCpu);
  options.peer.metrics_file = changes.metrics_file;
  options.peer.model_file = changes.model_file;
  options.peer.checkpoint_folder = changes.checkpoint_folder;
  options.peer.resume_round = changes.resume_round;
  options.peer.on_round = [this, i](const RoundReport& report) { reports[i].push_back(report); };
  PeerParts parts = must(make_peer_parts(config, Log()));
  if (changes.poisoned) {
    parts.dataset = std::make_shared<Poisoned>(parts.dataset);
    std::shared_ptr<ops::Backend> backend = ops::make_cpu_backend(1);
    parts.trainer = std::make_shared<Trainer>(
        backend, must(ops::Model::make(parts.architecture, *backend, 1)), parts.dataset, nullptr);
  }
  if (changes.prefetch) {
    parts.trainer->prefetch_on([](const std::function<void()>& fill) { fill(); }, 0);
  }
  member.trainer = parts.trainer;
  member.host = std::make_unique<PeerHost>(member.loop, std::move(parts), std::move(options));
}

comm::PeerId Team::id(std::size_t i) { return identity_of(i).id(); }
PeerHost& Team::host(std::size_t i) { return *members_[i]->host; }
const SharedState& Team::state(std::size_t i) { return host(i).peer().worker().state(); }

std::vector<float> Team::own_buffers(std::size_t i) const {
  const Trainer& trainer = *members_[i]->trainer;
  std::vector<float> out(static_cast<std::size_t>(trainer.model().map().buffer_size()));
  trainer.read_buffers(out);
  return out;
}

std::uint64_t Team::ready_batches(std::size_t i) const {
  return members_[i]->trainer->ready_batches();
}

void Team::kill(std::size_t i) {
  killed.insert(i);
  network_.crash(id(i));
}

void Team::begin(std::size_t i) { members_[i]->loop.spawn(run_host(host(i), summaries[i])); }

void Team::join(std::size_t i) {
  killed.erase(i);
  begin(i);
}

void Team::run_until(const std::function<bool()>& done) {
  if (!begun_) {
    begun_ = true;
    for (std::size_t i = 0; i + late_ < size(); ++i) {
      begin(i);
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
