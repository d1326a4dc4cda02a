#include "node/plan_check.h"

#include "node/peer_parts.h"
#include "node/units.h"

namespace shoal::node {

Result<PlanCheck> check_plan(const Config& config) {
  SHOAL_ASSIGN(const auto dataset, open_configured_dataset(config));
  SHOAL_ASSIGN(const auto architecture, configured_architecture(config, *dataset));
  const std::uint64_t samples = dataset->size(Split::kTrain);
  SHOAL_ASSIGN(const auto strategy, configured_strategy(config, samples));
  PlanCheck check;
  check.parameters = architecture->map().parameter_count();
  SHOAL_ASSIGN(check.memory, plan_peer_memory({config, *dataset, *architecture, *strategy},
                                              planned_device(config)));
  check.recompute = layer_names(*architecture, check.memory.pass.recompute);
  check.sentence = config.chosen("model") + " with " + std::to_string(check.parameters) +
                   " parameters on " + std::to_string(samples) + " samples of " +
                   config.chosen("data") + "; " + config.chosen("sync") + " over " +
                   std::to_string(config.get_int("swarm.peers")) + " peers in " +
                   config.chosen("codec") + "; about " +
                   bytes_text(static_cast<double>(check.memory.main_bytes())) + " of memory a peer";
  return check;
}

}  // namespace shoal::node
