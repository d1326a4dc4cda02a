#include <utility>

#include "node/sync/entries.h"
#include "node/worker.h"

namespace shoal::node {
namespace {

/// Local SGD with an outer optimizer: `period` local steps from the common parameters phi, then
/// the mean of D = phi - theta, each weighed by its samples, moves phi:
///   m <- mu m + D;  phi <- phi - eta (D + mu m) with Nesterov, phi - eta m without.
/// The inner optimizer's state is a peer's own and outlives rounds; it is never averaged.
/// Source: Douillard et al., "DiLoCo", arXiv 2311.08105, algorithm 1; Nesterov as PyTorch's SGD.
/// With eta = 1 and mu = 0 it is FedAvg (McMahan et al., arXiv 1602.05629).
class LocalSteps final : public Strategy {
 public:
  LocalSteps(const Options& options, TrainPlan plan)
      : plan_(std::move(plan)),
        period_(static_cast<std::uint64_t>(options.get_int("period"))),
        outer_lr_(options.get_float("outer_lr")) {
    outer_.set("momentum", options.get_float("outer_momentum"));
    outer_.set("nesterov",
               options.get_bool("outer_nesterov") && options.get_float("outer_momentum") > 0);
  }

  std::uint64_t round_samples(std::size_t members) const override {
    return plan_.batch * period_ * members;
  }
  std::uint64_t round_steps() const override { return period_; }

  Result<std::unique_ptr<ops::Optimizer>> shared_optimizer(
      ops::Backend& backend, const ops::FlatSpace& space) const override {
    SHOAL_ASSIGN(const ops::OptimizerEntry* sgd, ops::find_optimizer("sgd"));
    Options options = Options::defaults(sgd->options);
    for (const auto& [name, value] : outer_.values()) {
      options.set(name, value);
    }
    return sgd->make(options, backend, space);
  }

  Result<std::unique_ptr<ops::Optimizer>> local_optimizer(
      ops::Backend& backend, const ops::FlatSpace& space) const override {
    return ops::make_optimizer(plan_.optimizer, plan_.optimizer_options, backend, space);
  }

  ops::StepScalars scalars(const ops::Optimizer& shared, std::uint64_t round) const override {
    return shared.scalars(outer_lr_, round - 1);
  }

  comm::Task<Status> train(Worker& worker) override {
    while (!worker.done()) {
      auto delta = co_await worker.local_steps(plan_.batch, plan_.schedule);
      if (!delta.ok()) {
        co_return delta.error();
      }
      Status applied = co_await worker.exchange(std::move(*delta), 0);
      if (!applied.ok()) {
        co_return applied;
      }
    }
    co_return Status();
  }

 private:
  TrainPlan plan_;
  std::uint64_t period_;
  double outer_lr_;
  Options outer_;
};

}  // namespace

StrategyEntry local_entry() {
  return {"local",
          "every `period` local steps: the mean of the changes, through an outer optimizer",
          {{"period",
            OptionType::kInt,
            std::int64_t{50},
            "local steps between exchanges",
            1.0,
            1e6,
            {}},
           {"outer_lr", OptionType::kFloat, 0.7, "rate of the outer optimizer", 0.0, 100.0, {}},
           {"outer_momentum",
            OptionType::kFloat,
            0.9,
            "momentum of the outer optimizer",
            0.0,
            0.9999,
            {}},
           {"outer_nesterov", OptionType::kBool, true, "Nesterov's form of it", {}, {}, {}}},
          [](const Options& options, TrainPlan plan) -> std::unique_ptr<Strategy> {
            return std::make_unique<LocalSteps>(options, std::move(plan));
          }};
}

}  // namespace shoal::node
