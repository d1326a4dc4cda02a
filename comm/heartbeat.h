#pragma once

#include <array>

#include "comm/wire/message.h"
#include "ops/base/clock.h"

namespace shoal::comm {

/// Measures the round trip to one peer from the numbers in heartbeats: each side echoes the last
/// nonce it received, and says how long it has had it, so that heartbeats need no answers.
class RoundTripMeter {
 public:
  /// Fills in nonce, echo and echo age of a heartbeat that leaves now.
  void stamp(Heartbeat& heartbeat, TimePoint now);
  /// Takes what the peer's heartbeat says.
  void hear(const Heartbeat& heartbeat, TimePoint now);
  /// Smoothed; 0 before the first echo.
  [[nodiscard]] Duration round_trip() const { return smoothed_; }

 private:
  static constexpr std::size_t kRemembered = 32;  // 16 s of heartbeats
  std::array<TimePoint, kRemembered> sent_{};     // by nonce
  std::uint64_t nonce_ = 0;
  std::uint64_t received_nonce_ = 0;
  TimePoint received_at_;
  Duration smoothed_{0};
};

}  // namespace shoal::comm
