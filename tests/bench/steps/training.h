#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ops/model.h"
#include "ops/optim/optimizer.h"

namespace shoal::bench {

/// Says why and leaves with 2.
[[noreturn]] void give_up(const std::string& why);

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) {
    give_up(result.error().message);
  }
  return std::move(result).value();
}

/// One step of training; gives the mean loss before it.
using Step = std::function<double()>;

/// A model and what trains it: SGD with momentum.
struct Training {
  std::unique_ptr<ops::Model> model;
  std::unique_ptr<ops::Optimizer> optimizer;
  std::uint64_t step = 0;

  /// Forward, backward and the update on a batch whose targets are classes; gives the mean loss.
  double train(const ops::ConstTensorView& batch, const ops::ConstTensorView& targets);
};

std::shared_ptr<Training> training_of(ops::Backend& backend,
                                      std::shared_ptr<const ops::Architecture> architecture);
/// MLP 784-200-200-10.
std::shared_ptr<Training> mlp_training(ops::Backend& backend);
/// A GPT whose head has a weight of its own.
std::shared_ptr<Training> gpt_training(ops::Backend& backend, std::int64_t width,
                                       std::int64_t depth, std::int64_t heads, std::int64_t length,
                                       std::int64_t characters);

/// A row of the table: what is trained, and which part of PyTorch's time it may take.
struct Row {
  std::string name;  // steps_torch.py knows it
  std::string text;
  double reach;
  std::size_t steps;  // in one turn
  std::function<Step(ops::Backend&)> make;
};
std::vector<Row> rows();

}  // namespace shoal::bench
