#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// Softmax regression. Parameters fc.weight, fc.bias.
ModelEntry logistic_entry();

}  // namespace shoal::ops
