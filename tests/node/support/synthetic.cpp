#include "tests/node/support/synthetic.h"

#include <algorithm>
#include <utility>

#include "node/data/partition.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

class Synthetic final : public Dataset {
 public:
  Synthetic(std::uint32_t train, std::uint32_t test, std::uint64_t seed) {
    Rng rng(seed, 1);
    std::vector<float> centres(static_cast<std::size_t>(kFeatures * kClasses));
    for (float& c : centres) {
      c = static_cast<float>(rng.normal());
    }
    fill_split(0, train, centres, rng);
    fill_split(1, test, centres, rng);
  }

  std::uint32_t size(Split split) const override {
    return static_cast<std::uint32_t>(labels_[index(split)].size());
  }
  const ops::Port& input() const override { return port_; }
  std::int64_t classes() const override { return kClasses; }
  std::span<const std::int32_t> labels(Split split) const override { return labels_[index(split)]; }
  std::uint64_t held_bytes(std::uint64_t count) const override { return count * kFeatures * 4; }
  Status hold(Split, std::span<const std::uint32_t>) override { return {}; }
  Status fill(Split split, std::span<const std::uint32_t> indices, std::span<float> x,
              std::span<std::int32_t> labels) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(indices[i]) * kFeatures;
      std::copy_n(x_[index(split)].begin() + at, kFeatures,
                  x.begin() + static_cast<std::ptrdiff_t>(i) * kFeatures);
      labels[i] = labels_[index(split)][indices[i]];
    }
    return {};
  }

 private:
  static std::size_t index(Split split) { return split == Split::kTrain ? 0 : 1; }
  void fill_split(std::size_t which, std::uint32_t count, const std::vector<float>& centres,
                  Rng& rng) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto label = static_cast<std::int32_t>(rng.below(kClasses));
      labels_[which].push_back(label);
      for (std::int64_t f = 0; f < kFeatures; ++f) {
        const float centre = centres[static_cast<std::size_t>(label * kFeatures + f)];
        x_[which].push_back(centre + 0.5F * static_cast<float>(rng.normal()));
      }
    }
  }

  ops::Port port_{ops::Shape{kFeatures}, false};
  std::vector<float> x_[2];
  std::vector<std::int32_t> labels_[2];
};

template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? std::string() : result.error().message));
  REQUIRE(result.ok());
  return std::move(result).value();
}

template <typename Entry>
Options options_of(const Entry& entry,
                   const std::vector<std::pair<std::string, OptionValue>>& values) {
  Options options = Options::defaults(entry.options);
  for (const auto& [name, value] : values) {
    options.set(name, value);
  }
  return options;
}

const StrategyEntry& strategy_entry(const std::string& name) {
  const auto& all = strategy_registry();
  return *std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
}

std::unique_ptr<WorkerData> data_of(const PartsRequest& r, Dataset& dataset) {
  const std::uint32_t samples = dataset.size(Split::kTrain);
  if (r.parts == 0) {
    return shared_data(r.seed, samples);
  }
  const PartitionRequest request{r.seed, r.parts, dataset.labels(Split::kTrain),
                                 dataset.classes()};
  const Partition partition = must(make_partition("iid", Options(), request));
  return private_data(PrivateOrder(mix(r.seed, r.part), partition[r.part]));
}

}  // namespace

std::unique_ptr<Dataset> synthetic(std::uint32_t train, std::uint32_t test, std::uint64_t seed) {
  return std::make_unique<Synthetic>(train, test, seed);
}

PeerParts make_parts(const PartsRequest& r) {
  PeerParts parts;
  parts.dataset = r.dataset != nullptr ? r.dataset
                                       : std::shared_ptr<Dataset>(synthetic(r.train, 256, r.seed));
  const auto layers = r.layers.empty() ? std::vector<std::int64_t>{kFeatures, r.hidden, kClasses}
                                       : r.layers;
  Options model;
  model.set("layers", layers);
  parts.architecture = must(ops::make_architecture("mlp", model, parts.dataset->input(),
                                                   parts.dataset->classes()));
  ops::Schedule schedule;
  schedule.lr = r.lr;
  const ops::OptimizerEntry* sgd = must(ops::find_optimizer("sgd"));
  const TrainPlan plan{r.batch, schedule, "sgd", options_of(*sgd, r.optimizer_options)};
  const StrategyEntry& entry = strategy_entry(r.strategy);
  parts.strategy = entry.make(options_of(entry, r.strategy_options), plan);
  parts.codec = must(compress::make_codec(r.codec, Options()));
  parts.answer_codec = parts.codec;
  parts.data = data_of(r, *parts.dataset);
  parts.builder = {parts.architecture,
                   parts.strategy.get(),
                   ops::make_cpu_backend(1),
                   r.seed,
                   parts.dataset->size(Split::kTrain),
                   r.epochs};
  parts.state = must(SharedState::fresh(parts.builder));
  std::shared_ptr<ops::Backend> backend = ops::make_cpu_backend(1);
  auto model_ptr = must(ops::Model::make(parts.architecture, *backend, r.seed));
  auto local = must(parts.strategy->local_optimizer(*backend, model_ptr->parameters().space()));
  parts.trainer = std::make_shared<Trainer>(backend, std::move(model_ptr), parts.dataset,
                                            std::move(local));
  return parts;
}

}  // namespace shoal::node::tests
