#pragma once

#include <string_view>

#include "ops/architecture.h"

namespace shoal::ops {

/// A model written as a list of layers, one string each:
///   layers = ["conv2d 32 5 padding=2 activation=relu", "max_pool 2", "flatten", "linear 10"]
/// Layers are named by position ("0.weight"), as in PyTorch's Sequential, unless they say a name.
ModelEntry layers_entry();

/// One layer from its string: the type, then values of its options in the order in which the layer
/// declares them, then `option=value` in any order; `name=...` names the layer. Layers within one
/// stand in braces, and in a second pair of braces those of its shortcut:
///   "residual relu {conv2d 16 3 padding=1; group_norm 4} {conv2d 16 1}"
/// Errors: kConfig, without the layer's position.
Result<LayerSpec> parse_layer(std::string_view text);

}  // namespace shoal::ops
