#include "comm/round/deadlines.h"

#include <algorithm>
#include <cmath>

namespace shoal::comm {

LearntDeadline::LearntDeadline(Duration initial, Duration minimum, Duration maximum)
    : initial_(initial), minimum_(minimum), maximum_(maximum) {}

void LearntDeadline::observe(Duration took) {
  const double t = seconds(took);
  if (!known_) {
    mean_s_ = t;
    deviation_s_ = t / 2;
    known_ = true;
  } else {
    deviation_s_ += (std::abs(t - mean_s_) - deviation_s_) / 4;
    mean_s_ += (t - mean_s_) / 8;
  }
  stretch_ = std::max(1.0, stretch_ * 0.9);
}

void LearntDeadline::missed() { stretch_ = std::min(stretch_ * 1.5, 16.0); }

Duration LearntDeadline::value() const {
  if (!known_) {
    return std::min(from_seconds(seconds(initial_) * stretch_), std::max(initial_, maximum_));
  }
  const double learnt = 2 * (mean_s_ + 4 * deviation_s_) * stretch_;
  return std::clamp(from_seconds(std::min(learnt, seconds(maximum_))), minimum_, maximum_);
}

}  // namespace shoal::comm
