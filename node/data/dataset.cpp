#include "node/data/dataset.h"

#include <numeric>

#include "node/data/registry.h"
#include "ops/base/check.h"
#include "ops/find_entry.h"

namespace shoal::node {
namespace {

bool fits(const ops::TensorView& view, const ops::Port& port, std::size_t samples) {
  return view.device == ops::DeviceKind::kCpu && view.dtype == dtype_of(port) &&
         view.elements() == samples * port.shape.elements();
}

}  // namespace

const ops::Port& Dataset::target() const {
  static const ops::Port one_class{ops::Shape{}, true};
  return one_class;
}

Status Dataset::hold_all(Split split) {
  std::vector<std::uint32_t> all(size(split));
  std::iota(all.begin(), all.end(), 0U);
  return hold(split, all);
}

std::size_t Dataset::predictions() const {
  const ops::Port& port = target();
  const bool wide = !port.index && port.shape.rank() > 0;
  return wide ? port.shape.elements() / port.shape.cols() : port.shape.elements();
}

Status Dataset::fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const {
  SHOAL_CHECK(fits(x, input(), pick.indices.size()) && fits(targets, target(), pick.indices.size()),
              "a batch has room for its samples, in their type");
  return do_fill(pick, x, targets);
}

const std::vector<DatasetEntry>& dataset_registry() {
  static const std::vector<DatasetEntry> entries = {
      fashion_mnist_dataset(),
      idx_dataset(),
      cifar10_dataset(),
      cifar100_dataset(),
      csv_dataset(),
      npy_dataset(),
      text_dataset(),
      synthetic_dataset(),
      synthetic_alpha_beta_dataset(),
      synthetic_regression_dataset(),
  };
  return entries;
}

Result<std::unique_ptr<Dataset>> open_dataset(std::string_view name, const Options& options,
                                              std::uint64_t seed) {
  SHOAL_ASSIGN(const DatasetEntry* entry,
               ops::find_entry(dataset_registry(), &DatasetEntry::name, "data set", name));
  return entry->open(options, seed);
}

}  // namespace shoal::node
