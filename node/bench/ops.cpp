#include <cstdio>

#include "node/bench/bench.h"
#include "node/bench/ops_speed.h"
#include "node/json.h"
#include "ops/architecture.h"
#include "ops/fp_env.h"

namespace shoal::node {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const StepSpeed& s) {
  ordered_json gemms = nlohmann::json::array();
  for (const GemmSpeed& g : s.gemms) {
    gemms.push_back({{"layer", g.layer},
                     {"m", g.m},
                     {"n", g.n},
                     {"k", g.k},
                     {"gflops", g.gflops},
                     {"of_peak", g.gflops / s.peak_gflops}});
  }
  return {{"model", s.model},
          {"device", s.device},
          {"parameters", s.parameters},
          {"batch", s.batch},
          {"step_ms", 1e3 * s.step_s()},
          {"gradient_ms", 1e3 * s.gradient_s},
          {"optimizer_ms", 1e3 * s.optimizer_s},
          {"samples_per_s", static_cast<double>(s.batch) / s.step_s()},
          {"gflops", s.gflops},
          {"peak_gflops", s.peak_gflops},
          {"of_peak", s.gflops / s.peak_gflops},
          {"gemms", std::move(gemms)}};
}

void say(const Cli& cli, const StepSpeed& s) {
  const Log log = cli.log();
  log.info(s.model + ", " + std::to_string(s.parameters) + " parameters, batch " +
           std::to_string(s.batch) + " on " + s.device);
  char line[200];
  std::snprintf(line, sizeof line,
                "  step %9.3f ms (gradient %.3f, optimizer %.3f), %.0f samples/s, %.1f GFLOP/s, "
                "%.2f of a large product's",
                1e3 * s.step_s(), 1e3 * s.gradient_s, 1e3 * s.optimizer_s,
                static_cast<double>(s.batch) / s.step_s(), s.gflops, s.gflops / s.peak_gflops);
  log.info(line);
  for (const GemmSpeed& g : s.gemms) {
    std::snprintf(line, sizeof line, "  %-20s %6llu x %5llu x %5llu   %8.1f GFLOP/s   %.2f of it",
                  g.layer.c_str(), static_cast<unsigned long long>(g.m),
                  static_cast<unsigned long long>(g.n), static_cast<unsigned long long>(g.k),
                  g.gflops, g.gflops / s.peak_gflops);
    log.info(line);
  }
}

}  // namespace

Status bench_ops(const Cli& cli, const OpsBench& what) {
  ops::set_strict_fp_env();
  const BootClock clock;
  const auto least = from_seconds(what.seconds);
  ordered_json rows = nlohmann::json::array();
  std::vector<Config> configs;
  if (what.config.has_value()) {
    SHOAL_ASSIGN(configs.emplace_back(), cli.load(what.config));
  }
  for (const auto& entry : ops::model_registry()) {
    if (!what.config.has_value()) {
      Cli with_model = cli;
      with_model.settings.insert(with_model.settings.begin(), "model.name=" + entry.name);
      SHOAL_ASSIGN(configs.emplace_back(), with_model.load(std::nullopt));
    }
  }
  for (const Config& config : configs) {
    auto speed = time_step(config, least, clock);
    if (!speed.ok() && configs.size() > 1 && speed.error().code == Code::kConfig) {
      cli.log().warning(config.chosen("model") + " is left out: " + speed.error().message);
      continue;  // not every model fits every data set
    }
    if (!speed.ok()) {
      return speed.error();
    }
    say(cli, *speed);
    rows.push_back(to_json(*speed));
  }
  if (cli.json) {
    std::puts(rows.dump(2).c_str());
  }
  return {};
}

}  // namespace shoal::node
