#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// Linear layers with ReLU between: `layers = [784, 256, 128, 10]`. Parameters fc1.weight, ...
ModelEntry mlp_entry();

}  // namespace shoal::ops
