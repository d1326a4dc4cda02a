#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Yogi, and FedYogi outside (beta2 0.99). Arithmetic and source: kernels/update_rules.inc.
OptimizerEntry yogi_entry();

}  // namespace shoal::ops
