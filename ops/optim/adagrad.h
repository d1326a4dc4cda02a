#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Adagrad as PyTorch's, and with a momentum FedAdagrad (epsilon 1e-3). Arithmetic and sources:
/// kernels/update_rules.inc.
OptimizerEntry adagrad_entry();

}  // namespace shoal::ops
