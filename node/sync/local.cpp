#include <utility>

#include "node/sync/entries.h"
#include "node/worker.h"

namespace shoal::node {
namespace {

/// Local SGD with an outer optimizer: `period` local steps from the common parameters phi, then
/// the mean of D = phi - theta, each weighed by its samples, moves phi as a gradient would. With
/// SGD:
///   m <- mu m + D;  phi <- phi - eta (D + mu m) with Nesterov, phi - eta m without.
/// The inner optimizer's state is a peer's own and outlives rounds; it is never averaged. The
/// outer one's is the same on all peers, like phi.
/// Source: Douillard et al., "DiLoCo", arXiv 2311.08105, algorithm 1; Nesterov as PyTorch's SGD.
/// With SGD, eta = 1 and mu = 0 it is FedAvg (McMahan et al., arXiv 1602.05629); with others the
/// server optimizers of Reddi et al., "Adaptive federated optimization", arXiv 2003.00295.
class LocalSteps final : public Strategy {
 public:
  LocalSteps(const Options& options, TrainPlan plan)
      : plan_(std::move(plan)),
        period_(static_cast<std::uint64_t>(options.get_int("period"))),
        outer_lr_(options.get_float("outer_lr")) {
    Options& outer = plan_.outer.options;
    if (plan_.outer.name == "sgd" && outer.get_float("momentum") == 0) {
      outer.set("nesterov", false);  // of a momentum that is not there
    }
  }

  std::uint64_t round_samples(std::size_t members) const override {
    return plan_.batch * period_ * members;
  }
  std::uint64_t round_steps() const override { return period_; }

  Rule shared_rule() const override { return plan_.outer; }
  std::optional<Rule> local_rule() const override { return plan_.optimizer; }

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
           {"outer_lr", OptionType::kFloat, 0.7, "rate of the outer optimizer", 0.0, 100.0, {}}},
          [](const Options& options, TrainPlan plan) -> std::unique_ptr<Strategy> {
            return std::make_unique<LocalSteps>(options, std::move(plan));
          }};
}

}  // namespace shoal::node
