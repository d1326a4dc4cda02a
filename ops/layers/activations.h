#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/layer.h"

namespace shoal::ops {

/// Names of activations as options take them; "none" is the first.
const std::vector<std::string>& activation_names();
/// Requires: one of the names (checked).
Activation activation_named(std::string_view name);

/// y = activation(x), element by element.
std::unique_ptr<Layer> make_activation(Activation activation);
/// Examples that suit every activation.
std::vector<LayerExample> activation_examples();

}  // namespace shoal::ops
