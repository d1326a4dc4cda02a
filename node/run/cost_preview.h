#pragma once

#include <string>

#include "node/config.h"
#include "ops/base/result.h"

namespace shoal::node {

/// What taking part will cost this machine, for a person to agree to: model, memory, bytes an
/// hour with what was assumed for them, data. Several lines.
/// Errors: kData when the data set is not here, with how to get it; kConfig; kDevice over
/// limits.memory.
Result<std::string> cost_preview(const Config& config);

}  // namespace shoal::node
