#include "comm/round/norm_reference.h"

#include <algorithm>
#include <cmath>

namespace shoal::comm {

double NormReference::bound(Range granules, const GuardOptions& options) const {
  if (granules != granules_ || rounds_ < options.rounds_min || !(reference_ > 0)) {
    return options.norm_max;
  }
  return std::min(options.norm_max, options.norm_factor * reference_);
}

void NormReference::accept(Range granules, std::span<const double> norms,
                           const GuardOptions& options) {
  if (granules != granules_) {
    *this = {};
    granules_ = granules;
  }
  if (norms.empty()) {
    return;  // nobody said anything: no round of it
  }
  reference_ *= std::exp2(-1 / options.half_life);
  reference_ = std::max(reference_, *std::max_element(norms.begin(), norms.end()));
  ++rounds_;
}

}  // namespace shoal::comm
