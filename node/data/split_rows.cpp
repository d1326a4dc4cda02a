#include "node/data/split_rows.h"

#include <algorithm>
#include <numeric>

#include "node/data/permutation.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kDomain = 0x73706c6974;  // apart from the order of an epoch

}  // namespace

Result<SplitRows> split_rows(std::uint32_t rows, double test_fraction, std::uint64_t seed) {
  if (rows < 2) {
    return data_error("has " + std::to_string(rows) +
                      " samples, too few to train on some and test on others");
  }
  const auto wished = static_cast<std::uint32_t>(test_fraction * static_cast<double>(rows) + 0.5);
  const std::uint32_t tests = std::clamp(wished, 1U, rows - 1);
  const Permutation order(mix(seed, kDomain), 0, rows);
  std::vector<bool> is_test(rows, false);
  for (std::uint32_t i = 0; i < tests; ++i) {
    is_test[static_cast<std::size_t>(order.at(i))] = true;
  }
  SplitRows out;
  for (std::uint32_t row = 0; row < rows; ++row) {
    out[is_test[row] ? 1 : 0].push_back(row);
  }
  return out;
}

SplitRows whole_rows(std::uint32_t train, std::uint32_t test) {
  SplitRows out{std::vector<std::uint32_t>(train), std::vector<std::uint32_t>(test)};
  for (auto& rows : out) {
    std::iota(rows.begin(), rows.end(), 0U);
  }
  return out;
}

}  // namespace shoal::node
