#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = activation(inner(x) + shortcut(x)); without a shortcut x itself is added. Parameters of
/// inner layers are called "<inner name>.<parameter>", as those of a PyTorch module.
/// Shapes: inner and shortcut give the same shape, which is y's.
/// Source: He et al., "Deep residual learning", arXiv 1512.03385, equations 1 and 2.
LayerEntry residual_entry();

}  // namespace shoal::ops
