#pragma once

#include <cstddef>

#include "ops/kernels/update_rule.h"

namespace shoal::ops::cpu {

/// As kernels::Update over `count` elements, on the widest vectors of the machine at hand.
void update(UpdateRule rule, const UpdateArrays<float>& arrays, const UpdateNumbers<float>& numbers,
            std::size_t count);

}  // namespace shoal::ops::cpu
