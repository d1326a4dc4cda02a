#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "ops/base/clock.h"

namespace shoal::comm {

/// How much bulk may be in flight on one link and how it is cut, from what its peer's kernel
/// acknowledged while there was more to send: a ping never waits behind a model.
///
/// In flight counts from the hand-over to libzmq to the acknowledgement, so the window is what the
/// wire itself holds (rate x round trip) and a queue of kInFlightTime before it. A round trip
/// longer than that may queue as long as itself: a link of 200 ms fills no faster, and a message
/// still takes less than two round trips and kInFlightTime.
class Pace {
 public:
  /// Loopback has no rate worth measuring: its window is fixed.
  explicit Pace(bool loopback);

  /// Looks at the link: bytes its peer acknowledged so far, its shortest round trip, and whether
  /// more waits to be sent. Only what passes while more waits says what the link can carry.
  void sample(TimePoint now, std::uint64_t acknowledged, Duration round_trip, bool more_waits);

  [[nodiscard]] bool wants_samples() const { return !loopback_; }

  [[nodiscard]] std::uint64_t window_bytes() const;
  [[nodiscard]] std::size_t chunk_bytes() const;
  /// When to look again, if the window is full.
  [[nodiscard]] Duration retry() const;
  /// Units: bytes/s.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  struct Measured {
    TimePoint at;
    double rate = 0;
  };

  bool loopback_;
  double rate_;
  Duration round_trip_{0};
  bool measuring_ = false;
  TimePoint since_;
  std::uint64_t acknowledged_ = 0;
  std::deque<Measured> measured_;
};

}  // namespace shoal::comm
