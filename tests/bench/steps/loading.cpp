#include "tests/bench/steps/loading.h"

#include <numeric>

#include "comm/workers.h"
#include "node/data/loader.h"

namespace shoal::bench {
namespace {

constexpr std::size_t kBatches = 64;  // that are met in turn; more than the caches hold

/// Samples of each batch, spread over the data as a shuffled epoch would.
std::vector<std::vector<std::uint32_t>> picks(const node::Dataset& dataset, std::size_t batch) {
  Rng rng(2, 2);
  std::vector<std::vector<std::uint32_t>> all(kBatches);
  for (auto& one : all) {
    for (std::size_t i = 0; i < batch; ++i) {
      one.push_back(static_cast<std::uint32_t>(rng.below(dataset.size(node::Split::kTrain))));
    }
  }
  return all;
}

Step step_with_loading(std::shared_ptr<Training> training,
                       std::shared_ptr<const node::Dataset> dataset, std::size_t batch) {
  auto workers = std::make_shared<comm::ThreadWorkers>();
  auto loader = std::make_shared<node::Loader>(dataset, [workers](std::function<void()> fill) {
    workers->post(comm::Offload::kIo, std::move(fill), [] {});
  });
  return [training, loader, all = picks(*dataset, batch)] {
    const auto pick = [&](std::uint64_t step) {
      return node::Pick{node::Split::kTrain, all[step % kBatches], 0};
    };
    const auto taken = need(loader->take(pick(training->step)));
    loader->announce(pick(training->step + 1));
    return training->train(taken.x, taken.targets);
  };
}

Step step_alone(std::shared_ptr<Training> training, const node::Dataset& dataset,
                std::size_t batch) {
  auto filled = std::make_shared<std::vector<node::HostBatch>>(kBatches);
  const auto all = picks(dataset, batch);
  for (std::size_t i = 0; i < kBatches; ++i) {
    auto& one = (*filled)[i];
    one.resize(dataset, batch);
    if (!dataset.fill({node::Split::kTrain, all[i], 0}, one.x(), one.targets()).ok()) {
      give_up("a batch could not be filled");
    }
  }
  return [training, filled] {
    auto& one = (*filled)[training->step % kBatches];
    return training->train(one.x(), one.targets());
  };
}

std::shared_ptr<const node::Dataset> open(const std::string& name, const Options& set) {
  for (const auto& entry : node::dataset_registry()) {
    if (entry.name == name) {
      Options options = Options::defaults(entry.options);
      for (const auto& [key, value] : set.values()) {
        options.set(key, value);
      }
      auto dataset = need(entry.open(options, 1));
      if (const auto held = dataset->hold_all(node::Split::kTrain); !held.ok()) {
        give_up(held.error().message);
      }
      return dataset;
    }
  }
  give_up("there is no dataset \"" + name + "\"");
}

std::pair<Step, Step> images(ops::Backend& backend) {
  const auto dataset = open("fashion-mnist", {});
  return {step_with_loading(mlp_training(backend), dataset, 64),
          step_alone(mlp_training(backend), *dataset, 64)};
}

/// Text: the sources of ops/, byte by byte.
std::pair<Step, Step> text(ops::Backend& backend) {
  Options options;
  options.set("path", std::string(SHOAL_SOURCE_DIR "/ops/layers"));
  options.set("suffix", std::string(".cpp"));
  options.set("tokens", std::string("bytes"));
  const auto dataset = open("text", options);
  const auto make = [&] { return gpt_training(backend, 128, 4, 4, 64, dataset->classes()); };
  return {step_with_loading(make(), dataset, 32), step_alone(make(), *dataset, 32)};
}

}  // namespace

std::vector<LoadingRow> loading_rows() {
  return {{"mlp_loading", "MLP, Fashion-MNIST loaded meanwhile", 40, &images},
          {"gpt_small_loading", "GPT 0.8M, text loaded meanwhile", 1, &text}};
}

}  // namespace shoal::bench
