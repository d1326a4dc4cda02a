#include "node/run/cost_preview.h"

#include <algorithm>
#include <cstdio>

#include "node/codec_config.h"
#include "node/peer_parts.h"
#include "node/plan_check.h"
#include "node/run/peer_process.h"
#include "node/units.h"

namespace shoal::node {
namespace {

// Assumptions, said with what follows from them.
constexpr double kFlops = 20e9;      // float32 operations a second of one core
constexpr double kRoundTrip = 0.05;  // seconds that an exchange takes at least

/// Bytes that one peer sends a round, and as many that it receives: (n-1)/n of its contribution and
/// n-1 copies of its part's answer.
double round_bytes(const compress::Codec& codec, const compress::Codec& answer, const ParamMap& map,
                   double members) {
  const Range all{0, map.granule_count()};
  const auto sent = static_cast<double>(compress::granules_bytes_max(codec, map, all));
  const auto answered = static_cast<double>(compress::granules_bytes_max(answer, map, all));
  return (sent + answered) * (members - 1) / members;
}

double forward_flops(const ops::Architecture& architecture) {
  double sum = 0;
  for (const ops::Architecture::Node& node : architecture.nodes()) {
    sum += static_cast<double>(node.plan.forward_flops);
  }
  return sum;
}

/// Bytes, and how a batch goes through the model so that they suffice.
std::string memory_words(const PlanCheck& plan) {
  const MemoryTable& table = plan.memory;
  std::string words = "about " + bytes_text(static_cast<double>(table.main_bytes()));
  if (table.device_bytes() > 0) {
    words += ", and " + bytes_text(static_cast<double>(table.device_bytes())) + " of the GPU's";
  }
  words += ", at most " + std::to_string(table.pass.micro_batch) + " samples a pass";
  if (!plan.recompute.empty()) {
    words += ", " + std::to_string(plan.recompute.size()) + " layers computed again";
  }
  return words;
}

std::string line(const char* what, const std::string& text) {
  char label[16];
  std::snprintf(label, sizeof label, "\n  %-9s", what);
  return label + text;
}

}  // namespace

Result<std::string> cost_preview(const Config& config) {
  SHOAL_ASSIGN(const PlanCheck plan, check_plan(config));
  SHOAL_TRY(check_memory(config));
  SHOAL_ASSIGN(const auto dataset, open_configured_dataset(config));
  SHOAL_ASSIGN(const auto architecture, configured_architecture(config, *dataset));
  SHOAL_ASSIGN(const auto strategy, configured_strategy(config, dataset->size(Split::kTrain)));
  SHOAL_ASSIGN(const auto codec, planned_codec(config, "codec"));
  SHOAL_ASSIGN(const auto answer, planned_codec(config, "answer"));
  const auto members = static_cast<std::size_t>(config.get_int("swarm.peers"));
  const auto n = static_cast<double>(members);
  const double bytes = round_bytes(*codec, *answer, architecture->map(), n);
  const double samples = static_cast<double>(strategy->round_samples(members)) / n;
  const double round_s = kRoundTrip + 3 * forward_flops(*architecture) * samples / kFlops;
  char assumed[160];
  std::snprintf(assumed, sizeof assumed,
                " an hour each way at most (%s a round, one round in %.2f s: 20 GFLOP/s and 50 ms "
                "an exchange assumed)",
                bytes_text(bytes).c_str(), round_s);
  std::string text = "taking part in \"" + config.get_string("name") + "\" will cost this machine";
  text += line("model", config.chosen("model") + ", " + std::to_string(plan.parameters) +
                            " parameters, one of " + std::to_string(members) + " peers");
  text += line("memory", memory_words(plan));
  text += line("network", bytes_text(bytes * 3600 / round_s) + assumed);
  text += line("data", config.chosen("data") + ", present, " +
                           bytes_text(static_cast<double>(plan.memory.data)) + " of the memory");
  return text;
}

}  // namespace shoal::node
