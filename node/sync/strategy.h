#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/task.h"
#include "ops/backend.h"
#include "ops/base/options.h"
#include "ops/base/result.h"
#include "ops/flat.h"
#include "ops/optim/optimizer.h"
#include "ops/schedule.h"

namespace shoal::node {

class Worker;

/// An optimizer of the registry with its options.
struct Rule {
  std::string name;
  Options options;
};

/// What of a run's configuration every strategy is made from.
struct TrainPlan {
  std::uint64_t batch = 1;  ///< train.batch
  ops::Schedule schedule;
  Rule optimizer;  ///< train.optimizer
  Rule outer;      ///< sync.outer, of strategies that have one
};

/// When to exchange, what, and how to apply it. What all members hold alike is moved by one
/// optimizer (`shared_optimizer`) along the mean of each round; what a strategy does between rounds
/// is its own. An object lives as long as its peer. Threads: the loop.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Samples that a round takes from the data, over all members; cut among them by their speeds.
  [[nodiscard]] virtual std::uint64_t round_samples(std::size_t members) const = 0;
  /// Steps that a round adds to the global count of steps.
  [[nodiscard]] virtual std::uint64_t round_steps() const = 0;
  /// The rule that applies a round's mean to the shared parameters.
  [[nodiscard]] virtual Rule shared_rule() const = 0;
  /// The rule of local steps; nothing when there are none.
  [[nodiscard]] virtual std::optional<Rule> local_rule() const { return std::nullopt; }
  /// Optimizers by these rules; the local one is null without. Errors: kConfig, kDevice.
  [[nodiscard]] Result<std::unique_ptr<ops::Optimizer>> shared_optimizer(
      ops::Backend& backend, const ops::FlatSpace& space) const;
  [[nodiscard]] Result<std::unique_ptr<ops::Optimizer>> local_optimizer(
      ops::Backend& backend, const ops::FlatSpace& space) const;
  /// What the shared optimizer needs for round `round` (counted from 1). Computed by the leader
  /// alone and sent to all, so that no member's libm reaches a parameter. Pure.
  [[nodiscard]] virtual ops::StepScalars scalars(const ops::Optimizer& shared,
                                                 std::uint64_t round) const = 0;
  /// Trains until `worker.done()`.
  /// Errors: those of the worker's calls; the run can't go on then.
  virtual comm::Task<Status> train(Worker& worker) = 0;
};

/// One line of the registry.
struct StrategyEntry {
  std::string name;
  std::string help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Strategy> (*make)(const Options& options, TrainPlan plan);
};

const std::vector<StrategyEntry>& strategy_registry();

/// Errors: kConfig with the nearest name.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const Options& options,
                                                TrainPlan plan);

}  // namespace shoal::node
