#include "tests/bench/codecs/index_bits.h"

#include <cmath>
#include <vector>

#include "compress/index_coding.h"
#include "ops/base/rng.h"

namespace shoal::bench {

double rice_over_entropy(double density) {
  using compress::BitWriter;
  Rng rng(1, 0);
  std::vector<std::uint16_t> gaps(1'000'000);
  for (auto& gap : gaps) {
    double drawn = 0;
    do {
      drawn = std::floor(std::log1p(-rng.uniform()) / std::log1p(-density));
    } while (drawn >= kGranule);
    gap = static_cast<std::uint16_t>(drawn);
  }
  const unsigned k = compress::rice_parameter(gaps);
  std::vector<std::byte> room(4 * gaps.size() + 8);
  BitWriter out(room);
  for (const std::uint16_t gap : gaps) {
    compress::rice_put(out, gap, k);
  }
  const double bits = 8.0 * static_cast<double>(out.finish()) / static_cast<double>(gaps.size());
  const double within = 1 - std::pow(1 - density, kGranule);
  double entropy = 0;
  for (std::uint64_t gap = 0; gap < kGranule; ++gap) {
    const double p = density * std::pow(1 - density, gap) / within;
    entropy -= p * std::log2(p);
  }
  return bits / entropy;
}

}  // namespace shoal::bench
