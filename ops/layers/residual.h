#pragma once

#include "ops/layer.h"

namespace shoal::ops {

/// y = activation(inner(x) + shortcut(x)); without a shortcut x itself is added. Parameters of
/// inner layers are called "<inner name>.<parameter>", as those of a PyTorch module.
/// Shapes: inner and shortcut give the same shape, which is y's.
LayerEntry residual_entry();

}  // namespace shoal::ops
