#pragma once

#include "node/cli/cli.h"
#include "node/run/run_folder.h"
#include "node/summary.h"

namespace shoal::node {

/// The last act of a command that trained: writes summary.json, says how it went (with --json the
/// summary itself on stdout) and returns the exit code. Errors: kData when it can't be written.
Result<int> conclude(const RunSummary& run, const RunFolder& folder, const Cli& cli);

}  // namespace shoal::node
