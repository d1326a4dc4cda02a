#pragma once

#include <boost/intrusive/set.hpp>

#include "ops/base/check.h"
#include "ops/base/clock.h"

namespace shoal::comm {

namespace detail {
/// Takes its object off its container when that is destroyed or `unlink` is called.
using TimerHook =
    boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
}  // namespace detail

/// Something that is due at a time. Takes itself off its timers when destroyed; neither copied nor
/// moved.
class Timer : public detail::TimerHook {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  /// Called once, off its timers already; may destroy the timer.
  virtual void fire() = 0;
  [[nodiscard]] bool armed() const { return detail::TimerHook::is_linked(); }
  void disarm() { detail::TimerHook::unlink(); }

 private:
  friend class Timers;
  TimePoint when_;
};

/// Timers by time, those of one time in the order in which they were armed. Owns none of them and
/// removes any in O(log n): a cancelled deadline leaves nothing behind. Those that are armed when
/// it is destroyed are left disarmed.
class Timers {
 public:
  /// Requires: the timer is not armed.
  void arm(Timer& timer, TimePoint when) {
    SHOAL_CHECK(!timer.armed(), "a timer is armed once");
    timer.when_ = when;
    armed_.insert(timer);
  }
  /// Time of the earliest timer, kNever when there is none.
  [[nodiscard]] TimePoint next() const { return armed_.empty() ? kNever : armed_.begin()->when_; }
  /// Takes the earliest timer off if it is due; null otherwise.
  Timer* pop_due(TimePoint now) {
    if (next() > now || armed_.empty()) {
      return nullptr;
    }
    Timer& first = *armed_.begin();
    first.disarm();
    return &first;
  }

 private:
  struct Earlier {
    bool operator()(const Timer& a, const Timer& b) const { return a.when_ < b.when_; }
  };
  boost::intrusive::multiset<Timer, boost::intrusive::base_hook<detail::TimerHook>,
                             boost::intrusive::compare<Earlier>,
                             boost::intrusive::constant_time_size<false>>
      armed_;
};

}  // namespace shoal::comm
