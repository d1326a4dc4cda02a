#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Stochastic gradient descent with momentum, Nesterov's variant and weight decay; see
/// kernels/update_rules.inc for the arithmetic and its source.
OptimizerEntry sgd_entry();

}  // namespace shoal::ops
