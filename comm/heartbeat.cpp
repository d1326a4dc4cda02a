#include "comm/heartbeat.h"

#include <algorithm>

#include "comm/limits.h"

namespace shoal::comm {

using std::chrono::microseconds;

void RoundTripMeter::stamp(Heartbeat& heartbeat, TimePoint now) {
  heartbeat.nonce = ++nonce_;
  sent_[nonce_ % kRemembered] = now;
  heartbeat.echo = received_nonce_;
  const auto age = std::chrono::duration_cast<microseconds>(now - received_at_);
  heartbeat.echo_age_us = received_nonce_ == 0 ? 0 : static_cast<std::uint64_t>(age.count());
}

void RoundTripMeter::hear(const Heartbeat& heartbeat, TimePoint now) {
  received_nonce_ = heartbeat.nonce;
  received_at_ = now;
  const bool known =
      heartbeat.echo != 0 && heartbeat.echo <= nonce_ && heartbeat.echo + kRemembered > nonce_;
  if (!known) {
    return;
  }
  const Duration whole = now - sent_[heartbeat.echo % kRemembered];
  const auto held = std::min<std::uint64_t>(heartbeat.echo_age_us,
                                            static_cast<std::uint64_t>(whole.count()) / 1000);
  const Duration sample = whole - microseconds(held);
  smoothed_ = smoothed_ == Duration{0} ? sample : smoothed_ + (sample - smoothed_) / 8;
}

}  // namespace shoal::comm
