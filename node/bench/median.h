#pragma once

#include <algorithm>
#include <vector>

#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Median seconds of a call of `body` (which gives a Status), over short runs of as many calls as
/// take 50 us, so that reading the clock does not count. Runs go on for `least`; what comes before
/// them warms pages and caches. Errors: those of `body`.
template <typename Body>
Result<double> median_seconds(Body body, Duration least, const Clock& clock) {
  constexpr Duration kRun = std::chrono::microseconds(50);
  constexpr int kCallsMax = 256;  // a clock may stand still
  int calls = 1;
  const auto run = [&]() -> Result<Duration> {
    const TimePoint start = clock.now();
    for (int i = 0; i < calls; ++i) {
      SHOAL_TRY(body());
    }
    return clock.now() - start;
  };
  SHOAL_TRY(run());
  for (bool longer = true; longer && calls < kCallsMax; calls *= longer ? 2 : 1) {
    SHOAL_ASSIGN(const Duration taken, run());
    longer = taken < kRun;
  }
  std::vector<double> taken;
  const TimePoint end = clock.now() + least;
  do {
    SHOAL_ASSIGN(const Duration duration, run());
    taken.push_back(seconds(duration) / calls);
  } while (clock.now() < end);
  const auto middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
  std::nth_element(taken.begin(), middle, taken.end());
  return std::max(*middle, 1e-12);
}

}  // namespace shoal::node
