#include "node/peer_parts.h"

#include <algorithm>
#include <utility>

#include "node/codec_check.h"
#include "node/codec_config.h"
#include "node/data/partition.h"
#include "node/memory_plan.h"
#include "node/pace.h"

namespace shoal::node {
namespace {

std::uint64_t count_of(const Config& config, const char* key) {
  return static_cast<std::uint64_t>(config.get_int(key));
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

Result<std::unique_ptr<WorkerData>> configured_data(const Config& config, Dataset& dataset) {
  const std::uint64_t seed = count_of(config, "seed");
  if (config.get_string("data.mode") == "shared") {
    SHOAL_TRY(dataset.hold_all(Split::kTrain));
    return shared_data(seed, dataset.size(Split::kTrain));
  }
  const std::uint64_t named = count_of(config, "data.parts");
  const std::uint64_t parts = named == 0 ? count_of(config, "swarm.peers") : named;
  const std::uint64_t part = count_of(config, "data.part");
  if (part >= parts) {
    return config_error("data.part is " + std::to_string(part) + ", but there are " +
                        std::to_string(parts) + " parts, counted from 0");
  }
  const PartitionRequest request{seed, static_cast<std::uint32_t>(parts),
                                 dataset.labels(Split::kTrain), dataset.classes(),
                                 dataset.holders()};
  SHOAL_ASSIGN(
      const Partition partition,
      make_partition(config.chosen("partition"), config.plugin_options("partition"), request));
  SHOAL_TRY(dataset.hold(Split::kTrain, partition[part]));
  return private_data(PrivateOrder(mix(seed, part), partition[part]));
}

/// What was chosen for this peer, where anything was.
void say_passes(const Config& config, const ops::Architecture& architecture, const PassPlan& pass,
                const Log& log) {
  const auto said = [&config](const char* key) {
    return config.find(key)->origin.kind != Origin::Kind::kDefault;
  };
  if (!said("train.micro_batch") && !said("train.recompute")) {
    return;
  }
  std::string layers;
  for (const auto& name : layer_names(architecture, pass.recompute)) {
    layers += (layers.empty() ? "; computed again: " : ", ") + name;
  }
  log.info("at most " + std::to_string(pass.micro_batch) + " samples a pass" + layers);
}

Result<std::shared_ptr<Trainer>> configured_trainer(const Config& config, const PeerParts& parts,
                                                    const Log& log) {
  const CorePlan cores =
      plan_cores(config.get_float("limits.cores"),
                 static_cast<int>(config.get_int("device.blas_threads")), available_cpus());
  SHOAL_ASSIGN(ops::ChosenBackend chosen,
               ops::choose_backend(config.get_string("device.name"), cores.blas_threads,
                                   {0, config.get_bool("device.tf32")}));
  log.info("computing on " + chosen.backend->description() +
           (chosen.reason.empty() ? "" : " (" + chosen.reason + ")"));
  std::shared_ptr<ops::Backend> backend = std::move(chosen.backend);
  SHOAL_ASSIGN(const MemoryTable plan,
               plan_peer_memory({config, *parts.dataset, *parts.architecture, *parts.strategy},
                                backend->device()));
  say_passes(config, *parts.architecture, plan.pass, log);
  SHOAL_ASSIGN(std::unique_ptr<ops::Model> model,
               ops::Model::make(parts.architecture, *backend, count_of(config, "seed")));
  SHOAL_ASSIGN(std::unique_ptr<ops::Optimizer> local,
               parts.strategy->local_optimizer(*backend, model->parameters().space()));
  model->set_recompute(plan.pass.recompute);
  return std::make_shared<Trainer>(backend, std::move(model), parts.dataset, std::move(local),
                                   plan.pass.micro_batch);
}

}  // namespace

Result<std::shared_ptr<Dataset>> open_configured_dataset(const Config& config) {
  SHOAL_ASSIGN(
      std::unique_ptr<Dataset> dataset,
      open_dataset(config.chosen("data"), config.plugin_options("data"), count_of(config, "seed")));
  return std::shared_ptr<Dataset>(std::move(dataset));
}

Result<std::shared_ptr<const ops::Architecture>> configured_architecture(const Config& config,
                                                                         const Dataset& dataset) {
  return ops::make_architecture(config.chosen("model"), config.plugin_options("model"),
                                dataset.input(), dataset.classes());
}

Result<std::unique_ptr<Strategy>> configured_strategy(const Config& config,
                                                      std::uint64_t train_samples) {
  const std::string& name = config.chosen("sync");
  const Options options = config.plugin_options("sync");
  TrainPlan plan{count_of(config, "train.batch"),
                 {},
                 {config.chosen("optimizer"), config.plugin_options("optimizer")},
                 {}};
  if (config.find("sync.outer") != nullptr) {
    plan.outer = {config.chosen("outer"), config.plugin_options("outer")};
  }
  // How long the run is decides the learning rates, and the strategy decides how long it is.
  SHOAL_ASSIGN(const std::unique_ptr<Strategy> sized, make_strategy(name, options, plan));
  const std::uint64_t members = count_of(config, "swarm.peers");
  const std::uint64_t rounds = ceil_div(train_samples, sized->round_samples(members));
  std::uint64_t steps = rounds * sized->round_steps() * count_of(config, "train.epochs");
  if (const std::uint64_t most = count_of(config, "train.steps_max"); most > 0) {
    steps = std::min(steps, most);
  }
  SHOAL_ASSIGN(plan.schedule, ops::make_schedule(config.table_options("train"), steps));
  return make_strategy(name, options, std::move(plan));
}

Result<PeerParts> make_peer_parts(const Config& config, const Log& log, const Clock* clock) {
  PeerParts parts;
  SHOAL_ASSIGN(parts.dataset, open_configured_dataset(config));
  SHOAL_ASSIGN(parts.architecture, configured_architecture(config, *parts.dataset));
  SHOAL_ASSIGN(ExchangeSpace exchange, ExchangeSpace::make(parts.architecture->map()));
  parts.exchange = std::make_shared<const ExchangeSpace>(std::move(exchange));
  SHOAL_ASSIGN(parts.strategy, configured_strategy(config, parts.dataset->size(Split::kTrain)));
  SHOAL_ASSIGN(parts.codec, configured_codec(config, "codec", clock));
  SHOAL_ASSIGN(parts.answer_codec, configured_codec(config, "answer", clock));
  SHOAL_TRY(check_codecs(config, *parts.codec->first(), *parts.answer_codec->first()));
  SHOAL_ASSIGN(parts.data, configured_data(config, *parts.dataset));
  SHOAL_TRY(parts.dataset->hold_all(Split::kTest));
  parts.builder = {parts.architecture,
                   parts.strategy.get(),
                   ops::make_cpu_backend(1),
                   count_of(config, "seed"),
                   parts.dataset->size(Split::kTrain),
                   count_of(config, "train.epochs")};
  SHOAL_ASSIGN(parts.state, SharedState::fresh(parts.builder));
  SHOAL_ASSIGN(parts.trainer, configured_trainer(config, parts, log));
  return parts;
}

}  // namespace shoal::node
