#include "tests/support/seed.h"

#include <cstdlib>
#include <iostream>
#include <set>

namespace shoal::tests {

std::uint64_t test_seed(std::uint64_t fallback) {
  const char* text = std::getenv("SHOAL_SEED");
  const std::uint64_t seed = text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
  static std::set<std::uint64_t> printed;
  if (printed.insert(seed).second) {
    std::cout << "seed " << seed << " (replay with SHOAL_SEED=" << seed << ")\n";
  }
  return seed;
}

}  // namespace shoal::tests
