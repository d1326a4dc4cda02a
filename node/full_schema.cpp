#include "compress/codec.h"
#include "node/config_schema.h"
#include "node/data/dataset.h"
#include "node/data/partition.h"
#include "node/sync/strategy.h"
#include "ops/architecture.h"
#include "ops/optim/optimizer.h"
#include "ops/schedule.h"

/// The one place where configuration meets the registries.
namespace shoal::node {
namespace {

template <typename Entry>
std::vector<PluginSpec> specs_of(const std::vector<Entry>& registry) {
  std::vector<PluginSpec> specs;
  specs.reserve(registry.size());
  for (const Entry& entry : registry) {
    specs.push_back({entry.name, entry.help, entry.options});
  }
  return specs;
}

}  // namespace

const Schema& full_schema() {
  static const Schema schema = make_schema({
      specs_of(ops::model_registry()),
      specs_of(dataset_registry()),
      specs_of(partition_registry()),
      specs_of(strategy_registry()),
      specs_of(compress::registry()),
      specs_of(ops::optimizer_registry()),
      ops::schedule_options(),
  });
  return schema;
}

}  // namespace shoal::node
