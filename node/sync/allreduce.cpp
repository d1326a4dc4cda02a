#include <utility>

#include "node/sync/entries.h"
#include "node/worker.h"

namespace shoal::node {
namespace {

/// Synchronous data-parallel SGD: every step, the mean gradient over a batch of the whole view.
/// Each peer's part is weighed by its samples, so the mean is that of one peer with all of them.
class AllReduce final : public Strategy {
 public:
  AllReduce(const Options& options, TrainPlan plan)
      : plan_(std::move(plan)), clip_(options.get_float("clip")) {}

  std::uint64_t round_samples(std::size_t /*members*/) const override { return plan_.batch; }
  std::uint64_t round_steps() const override { return 1; }

  Rule shared_rule() const override { return plan_.optimizer; }

  ops::StepScalars scalars(const ops::Optimizer& shared, std::uint64_t round) const override {
    return shared.scalars(plan_.schedule.at(round - 1), round - 1);
  }

  comm::Task<Status> train(Worker& worker) override {
    while (!worker.done()) {
      auto gradient = co_await worker.gradient();
      if (!gradient.ok()) {
        co_return gradient.error();
      }
      Status applied = co_await worker.exchange(std::move(*gradient), clip_);
      if (!applied.ok()) {
        co_return applied;
      }
    }
    co_return Status();
  }

 private:
  TrainPlan plan_;
  double clip_;
};

}  // namespace

StrategyEntry allreduce_entry() {
  return {"allreduce",
          "every step: the mean gradient over one batch of the whole view",
          {{"clip",
            OptionType::kFloat,
            0.0,
            "largest norm of the mean gradient, applied after the exchange; 0: any",
            0.0,
            1e9,
            {}}},
          [](const Options& options, TrainPlan plan) -> std::unique_ptr<Strategy> {
            return std::make_unique<AllReduce>(options, std::move(plan));
          }};
}

}  // namespace shoal::node
