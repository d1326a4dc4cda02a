#include "node/data/dataset.h"

#include <numeric>

#include "node/data/registry.h"

namespace shoal::node {

Status Dataset::hold_all(Split split) {
  std::vector<std::uint32_t> all(size(split));
  std::iota(all.begin(), all.end(), 0U);
  return hold(split, all);
}

const std::vector<DatasetEntry>& dataset_registry() {
  static const std::vector<DatasetEntry> entries = {
      fashion_mnist_dataset(),
      synthetic_dataset(),
  };
  return entries;
}

Result<std::unique_ptr<Dataset>> open_dataset(std::string_view name, const Options& options,
                                              std::uint64_t seed) {
  std::vector<std::string> names;
  for (const auto& entry : dataset_registry()) {
    if (entry.name == name) {
      return entry.open(options, seed);
    }
    names.push_back(entry.name);
  }
  const std::string close = nearest(name, names);
  return config_error("there is no data set \"" + std::string(name) + "\"" +
                      (close.empty() ? "" : "; did you mean \"" + close + "\"?"));
}

}  // namespace shoal::node
