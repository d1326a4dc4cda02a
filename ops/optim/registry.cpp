#include "ops/find_entry.h"
#include "ops/optim/adagrad.h"
#include "ops/optim/adamw.h"
#include "ops/optim/lamb.h"
#include "ops/optim/lars.h"
#include "ops/optim/optimizer.h"
#include "ops/optim/sgd.h"
#include "ops/optim/yogi.h"

namespace shoal::ops {

const std::vector<OptimizerEntry>& optimizer_registry() {
  static const std::vector<OptimizerEntry> entries = {
      sgd_entry(), adamw_entry(), adagrad_entry(), yogi_entry(), lars_entry(), lamb_entry(),
  };
  return entries;
}

Result<const OptimizerEntry*> find_optimizer(std::string_view name) {
  return find_entry(optimizer_registry(), &OptimizerEntry::name, "optimizer", name);
}

Result<std::unique_ptr<Optimizer>> make_optimizer(std::string_view name, const Options& options,
                                                  Backend& backend, const FlatSpace& space) {
  SHOAL_ASSIGN(const OptimizerEntry* entry, find_optimizer(name));
  return entry->make(options, backend, space);
}

}  // namespace shoal::ops
