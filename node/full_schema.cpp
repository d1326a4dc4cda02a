#include "compress/codec.h"
#include "node/codec_config.h"
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

/// What optimizers start with when they move common parameters: DiLoCo's SGD, and nothing that
/// pulls parameters towards 0 beside the peers' own.
std::vector<PluginSpec> outer_optimizers() {
  auto specs = specs_of(ops::optimizer_registry());
  for (PluginSpec& plugin : specs) {
    for (OptionSpec& option : plugin.options) {
      if (option.name == "weight_decay") {
        option.default_value = 0.0;
      } else if (plugin.name == "sgd" && option.name == "nesterov") {
        option.default_value = true;
      }
    }
  }
  return specs;
}

std::vector<PluginSpec> codecs() {
  auto specs = specs_of(compress::registry());
  specs.push_back(auto_codec());
  return specs;
}

}  // namespace

const Schema& full_schema() {
  static const Schema schema = make_schema({
      specs_of(ops::model_registry()),
      specs_of(dataset_registry()),
      specs_of(partition_registry()),
      specs_of(strategy_registry()),
      codecs(),
      specs_of(ops::optimizer_registry()),
      outer_optimizers(),
      ops::schedule_options(),
  });
  return schema;
}

}  // namespace shoal::node
