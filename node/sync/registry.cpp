#include "node/sync/entries.h"
#include "node/sync/strategy.h"

namespace shoal::node {

Result<std::unique_ptr<ops::Optimizer>> Strategy::shared_optimizer(
    ops::Backend& backend, const ops::FlatSpace& space) const {
  const Rule rule = shared_rule();
  return ops::make_optimizer(rule.name, rule.options, backend, space);
}

Result<std::unique_ptr<ops::Optimizer>> Strategy::local_optimizer(
    ops::Backend& backend, const ops::FlatSpace& space) const {
  const std::optional<Rule> rule = local_rule();
  if (!rule.has_value()) {
    return std::unique_ptr<ops::Optimizer>();
  }
  return ops::make_optimizer(rule->name, rule->options, backend, space);
}

const std::vector<StrategyEntry>& strategy_registry() {
  static const std::vector<StrategyEntry> entries = {allreduce_entry(), local_entry()};
  return entries;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const Options& options,
                                                TrainPlan plan) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategy_registry()) {
    if (entry.name == name) {
      return entry.make(options, std::move(plan));
    }
    names.push_back(entry.name);
  }
  const std::string near = nearest(name, names);
  return config_error("there is no strategy \"" + std::string(name) + "\"" +
                      (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

}  // namespace shoal::node
