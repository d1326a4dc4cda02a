#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/base/result.h"

namespace shoal::node {

/// Rows of a file that each split gets, in the file's order; index i of a split is row rows[i].
using SplitRows = std::array<std::vector<std::uint32_t>, 2>;

/// A share of the rows, drawn by the seed and the same on every machine, goes to the test split,
/// at least one row to each. Errors: kData for fewer than two rows.
Result<SplitRows> split_rows(std::uint32_t rows, double test_fraction, std::uint64_t seed);

/// All rows of one file to train on, all of another to test on.
SplitRows whole_rows(std::uint32_t train, std::uint32_t test);

}  // namespace shoal::node
