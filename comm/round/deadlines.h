#pragma once

#include "ops/base/clock.h"

namespace shoal::comm {

/// A deadline learnt from how long the same thing took before: twice (mean + 4 deviations),
/// smoothed like TCP's retransmission timer, within bounds. Longer after each miss, also while
/// nothing has been in time yet.
/// Source: Jacobson and Karels, "Congestion avoidance and control", SIGCOMM 1988, appendix A.
class LearntDeadline {
 public:
  LearntDeadline(Duration initial, Duration minimum, Duration maximum);

  void observe(Duration took);
  /// It was not enough: something arrived after it, or never.
  void missed();
  [[nodiscard]] Duration value() const;

 private:
  Duration initial_;
  Duration minimum_;
  Duration maximum_;
  double mean_s_ = 0;
  double deviation_s_ = 0;
  double stretch_ = 1;
  bool known_ = false;
};

}  // namespace shoal::comm
