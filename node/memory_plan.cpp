#include "node/memory_plan.h"

#include <algorithm>

#include "comm/limits.h"
#include "compress/codec.h"
#include "node/exchange_space.h"
#include "node/units.h"
#include "ops/backend.h"

namespace shoal::node {
namespace {

/// What a process takes before it trains: code, libraries, sockets, a few threads.
constexpr std::uint64_t kProcessBytes = 24ULL << 20U;

std::uint64_t count_of(const Config& config, const char* key) {
  return static_cast<std::uint64_t>(config.get_int(key));
}

bool is_auto(const Config& config, const char* key) {
  const auto* word = std::get_if<std::string>(&config.find(key)->value);
  return word != nullptr && *word == "auto";
}

std::uint64_t data_bytes(const Config& config, const Dataset& dataset) {
  std::uint64_t own = dataset.size(Split::kTrain);
  if (config.get_string("data.mode") == "private") {
    own = own / std::max<std::uint64_t>(1, count_of(config, "data.parts")) + 1;
  }
  return dataset.held_bytes(own + dataset.size(Split::kTest));
}

/// State and scratch of a rule over the whole model.
Result<std::uint64_t> rule_bytes(const Rule& rule, const ops::Architecture& architecture) {
  SHOAL_ASSIGN(const ops::OptimizerEntry* entry, ops::find_optimizer(rule.name));
  return ops::plan_memory({architecture, *entry, rule.options}, {}).optimizer;
}

/// What the round protocol and the worker hold of the exchanged array: always, and while a round is
/// open beside it.
struct ExchangeBytes {
  /// The carry, the owner's residual, and the answers of rounds kept for stragglers, decoded ones
  /// with them.
  std::uint64_t kept = 0;
  /// The contribution, its weighted sum with the carry, the mean as decoded and as handed over; own
  /// parts encoded, what others send to the own part, and what reduces it; the round's answers.
  std::uint64_t open = 0;
};

Result<ExchangeBytes> exchange_bytes(const Config& config, const ParamMap& model) {
  SHOAL_ASSIGN(const ExchangeSpace exchange, ExchangeSpace::make(model));
  SHOAL_ASSIGN(const auto codec,
               compress::make_codec(config.chosen("codec"), config.plugin_options("codec")));
  SHOAL_ASSIGN(const auto answer,
               compress::make_codec(config.chosen("answer"), config.plugin_options("answer")));
  const ParamMap& map = exchange.map();
  const Range all{0, map.granule_count()};
  const std::uint64_t array = map.flat_size() * sizeof(float);
  const std::uint64_t sent = compress::granules_bytes_max(*codec, map, all);
  const std::uint64_t answered = compress::granules_bytes_max(*answer, map, all);
  const std::uint64_t peers = count_of(config, "swarm.peers");
  const std::uint64_t received = sent * (peers - 1) / peers;
  const std::uint64_t reducing = 3 * array / peers;  // sum, one input decoded, residual
  return ExchangeBytes{2 * array + comm::limits::kRoundsKept * (array + answered),
                       4 * array + sent + received + reducing + answered};
}

/// Rows of equal names are one choice: a block of a transformer is two layers.
std::vector<ops::Segment> named_segments(const ops::Architecture& architecture) {
  const auto& nodes = architecture.nodes();
  std::vector<ops::Segment> segments;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!segments.empty() && nodes[segments.back().begin].name == nodes[i].name) {
      segments.back().end = i + 1;
    } else {
      segments.push_back({i, i + 1});
    }
  }
  return segments;
}

bool repeatable(const ops::Architecture& architecture, const ops::Segment& segment) {
  const auto& nodes = architecture.nodes();
  return std::all_of(nodes.begin() + static_cast<std::ptrdiff_t>(segment.begin),
                     nodes.begin() + static_cast<std::ptrdiff_t>(segment.end),
                     [](const auto& node) { return node.plan.buffers.empty(); });
}

/// The segments that train.recompute names. Errors: kConfig.
Result<std::vector<ops::Segment>> chosen_segments(const Config& config,
                                                  const ops::Architecture& architecture) {
  const Config::Entry& entry = *config.find("train.recompute");
  const bool* all = std::get_if<bool>(&entry.value);
  const auto* names = std::get_if<std::vector<std::string>>(&entry.value);
  std::vector<ops::Segment> chosen;
  std::vector<std::string> known;
  std::vector<std::string> held;  // running statistics
  for (const auto& segment : named_segments(architecture)) {
    const std::string& name = architecture.nodes()[segment.begin].name;
    known.push_back(name);
    const bool named =
        names != nullptr && std::find(names->begin(), names->end(), name) != names->end();
    if (!repeatable(architecture, segment)) {
      held.push_back(name);
    } else if (named || (all != nullptr && *all)) {
      chosen.push_back(segment);
    }
  }
  for (const auto& name : names == nullptr ? std::vector<std::string>() : *names) {
    const std::string start = entry.origin.text() + ": train.recompute names \"" + name + "\", ";
    if (std::find(held.begin(), held.end(), name) != held.end()) {
      return config_error(start + "which has running statistics and can't be computed twice");
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string all_names;
      for (const auto& layer : known) {
        all_names += (all_names.empty() ? "" : ", ") + layer;
      }
      return config_error(start + "but the model's layers are " + all_names);
    }
  }
  return chosen;
}

/// What is fitted into limits.memory.
class Fit {
 public:
  Fit(const MemoryParts& parts, const ops::TrainingShape& shape, MemoryTable& table)
      : parts_(parts),
        shape_(shape),
        table_(table),
        limit_(parts.config.get_bytes("limits.memory")) {}

  [[nodiscard]] bool bounded() const {
    return limit_ > 0 && table_.device == ops::DeviceKind::kCpu;
  }
  /// Bytes left for training beside all else, with batches of so many samples.
  [[nodiscard]] std::uint64_t budget(std::size_t samples) {
    table_.batches = 2 * samples * sample_bytes(parts_.dataset);
    table_.training = {};
    const std::uint64_t taken = table_.main_bytes();
    return limit_ > taken ? limit_ - taken : 0;
  }
  /// Micro-batch and, where `recompute` may be chosen and is needed, layers to compute again.
  Status choose(bool micro, bool recompute) {
    Status fits = micro ? fit_samples() : Status();
    if (recompute && (!micro || !fits.ok())) {
      if (micro) {
        table_.pass.micro_batch = 1;
      }
      auto layers = ops::fit_recompute(shape_, question(), budget(table_.pass.micro_batch));
      if (!layers.ok()) {
        return device_error(
            "train.recompute = \"auto\" finds no layers that help: beside data, "
            "exchange and shared state, " +
            layers.error().message + "; or raise limits.memory");
      }
      table_.pass.recompute = std::move(layers).value();
      return {};
    }
    return fits;
  }
  [[nodiscard]] ops::MemoryQuestion question() const {
    ops::MemoryQuestion question;
    question.micro_batch = table_.pass.micro_batch;
    question.device = table_.device;
    question.recompute = table_.pass.recompute;
    return question;
  }
  static std::uint64_t sample_bytes(const Dataset& dataset) {
    return (dataset.input().shape.elements() + dataset.target().shape.elements()) * sizeof(float);
  }

 private:
  Status fit_samples() {
    for (std::size_t most = table_.pass.micro_batch;; most = (most + 1) / 2) {
      const auto fits = ops::fit_micro_batch(shape_, question(), most, budget(most));
      if (fits.ok()) {
        table_.pass.micro_batch = *fits;
        return {};
      }
      if (most == 1) {
        return no_samples();
      }
    }
  }
  [[nodiscard]] Error no_samples() {
    table_.pass.micro_batch = 1;
    table_.batches = 2 * sample_bytes(parts_.dataset);
    table_.training = ops::plan_memory(shape_, question());
    return device_error(
        "train.micro_batch = \"auto\" finds none that fits: even one sample at a "
        "time takes about " +
        bytes_text(static_cast<double>(table_.main_bytes())) + ", and limits.memory is " +
        bytes_text(static_cast<double>(limit_)) +
        "; raise limits.memory, set train.recompute to \"auto\", or take a smaller "
        "model");
  }

  const MemoryParts& parts_;
  const ops::TrainingShape& shape_;
  MemoryTable& table_;
  std::uint64_t limit_;
};

/// Stands for the rule of local steps where there are none.
std::size_t no_state(const Options& /*options*/) { return 0; }

Status fill_host(const MemoryParts& parts, MemoryTable& table) {
  const ParamMap& map = parts.architecture.map();
  SHOAL_ASSIGN(const std::uint64_t optimizer,
               rule_bytes(parts.strategy.shared_rule(), parts.architecture));
  table.shared = (map.flat_size() + map.buffer_size()) * sizeof(float) + optimizer;
  SHOAL_ASSIGN(const ExchangeBytes exchange, exchange_bytes(parts.config, map));
  table.exchange = exchange.kept + exchange.open;
  std::uint64_t own = map.flat_size() * sizeof(float);  // carry
  if (const auto rule = parts.strategy.local_rule()) {
    SHOAL_ASSIGN(const std::uint64_t local, rule_bytes(*rule, parts.architecture));
    own += local;
  }
  // It is written between rounds, when an open round's memory is free.
  const std::uint64_t written = 2 * (table.shared + own);
  table.checkpoint = written > exchange.open ? written - exchange.open : 0;
  table.data = data_bytes(parts.config, parts.dataset);
  table.process = kProcessBytes;
  return {};
}

}  // namespace

std::vector<MemoryTable::Row> MemoryTable::rows() const {
  return {{true, "parameters", training.parameters},
          {true, "gradients", training.gradients},
          {true, "optimizer of local steps", training.optimizer},
          {true, "running statistics", training.buffers},
          {true, "activations", training.activations},
          {true, "workspace", training.workspace},
          {true, "the device's own", training.device},
          {false, "shared state and its optimizer", shared},
          {false, "exchange", exchange},
          {false, "checkpoints, beyond a round's", checkpoint},
          {false, "batches", batches},
          {false, "data", data},
          {false, "the program itself", process}};
}

std::uint64_t MemoryTable::main_bytes() const {
  const std::uint64_t host = shared + exchange + checkpoint + batches + data + process;
  return device == ops::DeviceKind::kCpu ? host + training.total() : host;
}

std::uint64_t MemoryTable::device_bytes() const {
  return device == ops::DeviceKind::kCpu ? 0 : training.total();
}

Result<MemoryTable> plan_peer_memory(const MemoryParts& parts, ops::DeviceKind device) {
  const Config& config = parts.config;
  MemoryTable table;
  table.device = device;
  SHOAL_TRY(fill_host(parts, table));
  ops::OptimizerEntry none;
  none.state_reals = &no_state;
  const std::optional<Rule> local = parts.strategy.local_rule();
  const ops::OptimizerEntry* entry = &none;
  if (local.has_value()) {
    SHOAL_ASSIGN(entry, ops::find_optimizer(local->name));
  }
  const Options options = local.has_value() ? local->options : Options();
  const ops::TrainingShape shape{parts.architecture, *entry, options};

  const bool any_samples = is_auto(config, "train.micro_batch");
  const bool any_layers = is_auto(config, "train.recompute");
  const std::uint64_t most =
      any_samples ? std::uint64_t{kMicroBatch} : count_of(config, "train.micro_batch");
  table.pass.micro_batch =
      static_cast<std::size_t>(std::min(most, count_of(config, "train.batch")));
  if (!any_layers) {
    SHOAL_ASSIGN(table.pass.recompute, chosen_segments(config, parts.architecture));
  }
  Fit fit(parts, shape, table);
  if (fit.bounded()) {
    SHOAL_TRY(fit.choose(any_samples, any_layers));
  }
  table.batches = 2 * table.pass.micro_batch * Fit::sample_bytes(parts.dataset);
  table.training = ops::plan_memory(shape, fit.question());
  return table;
}

ops::DeviceKind planned_device(const Config& config) {
  const std::string& name = config.get_string("device.name");
  if (name != "auto") {
    return name == "cpu" ? ops::DeviceKind::kCpu : ops::DeviceKind::kCuda;
  }
  const auto chosen = ops::choose_backend(name);
  return chosen.ok() ? chosen->backend->device() : ops::DeviceKind::kCpu;
}

std::vector<std::string> layer_names(const ops::Architecture& architecture,
                                     const std::vector<ops::Segment>& segments) {
  std::vector<std::string> names;
  for (const auto& segment : segments) {
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      const std::string& name = architecture.nodes()[i].name;
      if (names.empty() || names.back() != name) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace shoal::node
