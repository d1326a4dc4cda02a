#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/base/clock.h"

namespace shoal::comm {

class TimerHeap;

/// Something that is due at a time. Takes itself off its heap when destroyed; neither copied nor
/// moved.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() { disarm(); }

  /// Called once, off the heap already; may destroy the timer.
  virtual void fire() = 0;
  [[nodiscard]] bool armed() const { return heap_ != nullptr; }
  void disarm();

 private:
  friend class TimerHeap;
  TimerHeap* heap_ = nullptr;
  std::size_t index_ = 0;
  std::uint64_t order_ = 0;
  TimePoint when_;
};

/// Timers by time, those of one time in the order in which they were armed. Owns none of them and
/// removes any in O(log n): a cancelled deadline leaves nothing behind.
class TimerHeap {
 public:
  TimerHeap() = default;
  TimerHeap(const TimerHeap&) = delete;
  TimerHeap& operator=(const TimerHeap&) = delete;
  ~TimerHeap();

  /// Requires: the timer is not armed.
  void arm(Timer& timer, TimePoint when);
  /// Time of the earliest timer, kNever when there is none.
  [[nodiscard]] TimePoint next() const { return heap_.empty() ? kNever : heap_.front()->when_; }
  /// Takes the earliest timer off if it is due; null otherwise.
  Timer* pop_due(TimePoint now);

 private:
  friend class Timer;
  static bool before(const Timer& a, const Timer& b);
  void remove(Timer& timer);
  void place(std::size_t index, Timer* timer);
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);

  std::vector<Timer*> heap_;
  std::uint64_t armed_count_ = 0;
};

}  // namespace shoal::comm
