#pragma once

#include "node/config.h"

namespace shoal::tests {

/// shoal's keys over invented plug-ins, so that tests of configuration do not change with the
/// registries.
inline node::Schema test_schema() {
  using node::PluginSpec;
  const auto number = [](const char* name, double value, Scope scope = Scope::kRun) {
    return OptionSpec{name, OptionType::kFloat, value, "a number", 0.0, 1e6, {}, scope};
  };
  OptionSpec layers{
      "layers", OptionType::kIntList, std::vector<std::int64_t>{4, 2}, "widths", 1.0, 1e6,
      {},       Scope::kRun};
  OptionSpec path{"path", OptionType::kString, std::string("/data"), "folder", {}, {},
                  {},     Scope::kPeer};
  OptionSpec period{"period", OptionType::kInt, std::int64_t{10}, "steps", 1.0, 1e6,
                    {},       Scope::kRun};
  node::Plugins plugins;
  plugins.models = {PluginSpec{"mlp", "", {layers}}, PluginSpec{"cnn", "", {number("width", 8)}}};
  plugins.datasets = {PluginSpec{"fashion-mnist", "", {path}}, PluginSpec{"synthetic", "", {}}};
  plugins.partitions = {PluginSpec{"iid", "", {}}, PluginSpec{"skewed", "", {number("alpha", 1)}}};
  plugins.strategies = {PluginSpec{"allreduce", "", {}},
                        PluginSpec{"local", "", {period, number("outer_lr", 0.7)}}};
  plugins.codecs = {PluginSpec{"fp32", "", {}}, PluginSpec{"int8", "", {}},
                    PluginSpec{"top-k", "", {number("density", 0.01)}}};
  plugins.optimizers = {PluginSpec{"sgd", "", {number("momentum", 0)}}};
  plugins.outer_optimizers = {PluginSpec{"sgd", "", {number("momentum", 0.9)}},
                              PluginSpec{"adam", "", {number("beta", 0.99)}}};
  plugins.schedule = {number("lr", 0.1)};
  return make_schema(std::move(plugins));
}

inline Result<node::Config> parse(std::string_view text, node::ConfigSources sources = {}) {
  return node::parse_config(test_schema(), text, "run.toml", sources);
}

}  // namespace shoal::tests
