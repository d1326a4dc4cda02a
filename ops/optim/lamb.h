#pragma once

#include "ops/optim/optimizer.h"

namespace shoal::ops {

/// Layer-wise adaptive rates on Adam: tensor l steps by rate |w_l| along r_l / |r_l|,
///   r = m' / (sqrt(v') + epsilon) + weight_decay w.
/// What decay_skips names steps by rate r. Source: You et al., "Large batch optimization for deep
/// learning", arXiv 1904.00962, algorithm 2 with phi(z) = z.
OptimizerEntry lamb_entry();

}  // namespace shoal::ops
