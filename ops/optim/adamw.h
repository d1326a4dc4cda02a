#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Adam with decoupled weight decay, with and without corrections of the bias: PyTorch's AdamW, and
/// FedAdam outside (beta2 0.99, epsilon 1e-3, no corrections). Arithmetic and sources:
/// kernels/update_rules.inc.
OptimizerEntry adamw_entry();

}  // namespace shoal::ops
