#include "node/plan_check.h"

#include <algorithm>

#include "node/peer_parts.h"
#include "node/units.h"
#include "ops/memory.h"

namespace shoal::node {
namespace {

/// What a process takes before it trains: code, libraries, sockets, a few threads.
constexpr std::uint64_t kProcessBytes = 64ULL << 20U;

std::uint64_t count_of(const Config& config, const char* key) {
  return static_cast<std::uint64_t>(config.get_int(key));
}

std::uint64_t data_bytes(const Config& config, const Dataset& dataset) {
  std::uint64_t own = dataset.size(Split::kTrain);
  if (config.get_string("data.mode") == "private") {
    own = own / std::max<std::uint64_t>(1, count_of(config, "data.parts")) + 1;
  }
  return dataset.held_bytes(own + dataset.size(Split::kTest));
}

/// Training state by a dry run of shapes; the exchange holds at most 2.5 models beside it.
Result<std::uint64_t> training_bytes(const Config& config, const ops::Architecture& architecture) {
  SHOAL_ASSIGN(const ops::OptimizerEntry* optimizer,
               ops::find_optimizer(config.chosen("optimizer")));
  ops::MemoryQuestion question;
  question.micro_batch = static_cast<std::size_t>(count_of(config, "train.batch"));
  const Options optimizer_options = config.plugin_options("optimizer");
  const auto plan = ops::plan_memory({architecture, *optimizer, optimizer_options}, question);
  const std::uint64_t model_bytes = architecture.map().flat_size() * sizeof(float);
  return plan.total() + model_bytes * 5 / 2;
}

}  // namespace

Result<PlanCheck> check_plan(const Config& config) {
  SHOAL_ASSIGN(const auto dataset, open_configured_dataset(config));
  SHOAL_ASSIGN(const auto architecture, configured_architecture(config, *dataset));
  const std::uint64_t samples = dataset->size(Split::kTrain);
  SHOAL_TRY(configured_strategy(config, samples));
  for (const char* kind : {"codec", "answer"}) {
    SHOAL_TRY(compress::make_codec(config.chosen(kind), config.plugin_options(kind)));
  }
  PlanCheck check;
  check.parameters = architecture->map().parameter_count();
  check.data_bytes = data_bytes(config, *dataset);
  SHOAL_ASSIGN(const std::uint64_t training, training_bytes(config, *architecture));
  check.memory_bytes = training + check.data_bytes + kProcessBytes;
  check.sentence = config.chosen("model") + " with " + std::to_string(check.parameters) +
                   " parameters on " + std::to_string(samples) + " samples of " +
                   config.chosen("data") + "; " + config.chosen("sync") + " over " +
                   std::to_string(config.get_int("swarm.peers")) + " peers in " +
                   config.chosen("codec") + "; about " +
                   bytes_text(static_cast<double>(check.memory_bytes)) + " of memory a peer";
  return check;
}

}  // namespace shoal::node
