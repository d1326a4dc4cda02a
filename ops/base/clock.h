#pragma once

#include <chrono>
#include <cstdint>

namespace shoal {

using Duration = std::chrono::nanoseconds;

/// A point on some peer's own monotonic time line; never compared between machines.
struct TimePoint {
  Duration since_start{0};

  friend constexpr auto operator<=>(const TimePoint&, const TimePoint&) = default;
  friend constexpr TimePoint operator+(TimePoint t, Duration d) { return {t.since_start + d}; }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) { return {t.since_start - d}; }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) {
    return a.since_start - b.since_start;
  }
};

constexpr TimePoint kNever{Duration::max()};

inline double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

/// Where time comes from. Passed in everywhere; protocols, strategies and state never read a
/// system clock themselves.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

/// CLOCK_BOOTTIME: monotonic, and it goes on while a laptop sleeps, so that the sleep is noticed.
class BootClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
};

}  // namespace shoal
