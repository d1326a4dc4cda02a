#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Layer-wise adaptive rates on SGD with momentum: tensor l steps with
///   rate * trust |w_l| / (|g_l| + weight_decay |w_l|).
/// What decay_skips names steps with the plain rate, as large-batch recipes do.
/// Source: You, Gitman, Ginsburg, "Large batch training of convolutional networks", arXiv
/// 1708.03888, algorithm 1 (the rate within the momentum, as there).
OptimizerEntry lars_entry();

}  // namespace shoal::ops
