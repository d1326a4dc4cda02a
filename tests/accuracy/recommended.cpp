#include "tests/accuracy/recommended.h"

#include <algorithm>

#include "compress/codec.h"

namespace shoal::accuracy {
namespace {

/// Where defaults are not what we recommend, or more points may be lost.
const std::vector<Recommended>& exceptions() {
  static const std::vector<Recommended> all = {
      // A value moves once in ten rounds, by all it owes: less momentum, at the same rate in all.
      {"randomk", {"compress.density=0.1", "train.momentum=0.5", "train.lr=0.2"}, 0.5},
      {"sign", {}, 1.5},
      {"ternary", {}, 1.5},
      {"demo", {}, 1.5},
      {"dgc", {"train.momentum=0", "compress.density=0.01"}, 0.5},  // its velocity is the momentum
  };
  return all;
}

}  // namespace

std::vector<Recommended> recommended() {
  std::vector<Recommended> all;
  for (const auto& entry : compress::registry()) {
    const auto it = std::find_if(exceptions().begin(), exceptions().end(),
                                 [&](const Recommended& r) { return r.codec == entry.name; });
    all.push_back(it == exceptions().end() ? Recommended{entry.name, {}, 0.5} : *it);
  }
  return all;
}

}  // namespace shoal::accuracy
