#pragma once

#include "ops/architecture.h"

namespace shoal::ops {

/// Two hidden layers of 200: 199,210 parameters on 28x28 images and 10 classes.
/// Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized
/// data", arXiv 1602.05629, section 3.
ModelEntry two_nn_entry();

}  // namespace shoal::ops
