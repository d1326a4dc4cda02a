#pragma once

#include "node/sync/strategy.h"

/// One function a file of this folder, called by the registry alone.
namespace shoal::node {

StrategyEntry allreduce_entry();
StrategyEntry local_entry();

}  // namespace shoal::node
