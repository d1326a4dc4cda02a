#pragma once

#include <cstdint>

namespace shoal::tests {

/// Seed of a property test: `SHOAL_SEED` when set, else `fallback`. Printed once per process and
/// fallback, so that a failure in a log can be replayed.
std::uint64_t test_seed(std::uint64_t fallback);

}  // namespace shoal::tests
