#pragma once

#include "tests/bench/steps/training.h"

namespace shoal::bench {

/// A step that takes its batch from node's loader, which fills the next one meanwhile, beside a
/// step on batches that lie filled in memory. Both train the same model on the same samples.
struct LoadingRow {
  std::string name;
  std::string text;
  std::size_t steps;                                         // in one turn
  std::function<std::pair<Step, Step>(ops::Backend&)> make;  // with loading, alone
};
std::vector<LoadingRow> loading_rows();

}  // namespace shoal::bench
