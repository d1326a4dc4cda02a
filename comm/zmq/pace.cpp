#include "comm/zmq/pace.h"

#include <algorithm>

#include "comm/limits.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kChunkBytesMin = 2048;
// Before anything is known: a chunk fits the first flight of TCP (ten segments).
constexpr double kRateAtFirst = 700e3;
// A measure lasts two round trips within these bounds: shorter ones see bursts, not the link.
constexpr Duration kMeasureMin = milliseconds(10);
constexpr Duration kMeasureMax = milliseconds(400);
// The best of this long counts, so that one late acknowledgement does not shrink the window.
constexpr Duration kRemember = milliseconds(1000);

}  // namespace

static_assert(limits::kLoopbackWindow >= 2 * limits::kChunkBytesMax);

Pace::Pace(bool loopback) : loopback_(loopback), rate_(kRateAtFirst) {}

void Pace::sample(TimePoint now, std::uint64_t acknowledged, Duration round_trip, bool more_waits) {
  round_trip_ = round_trip;
  if (!more_waits || !measuring_) {
    measuring_ = more_waits;
    since_ = now;
    acknowledged_ = acknowledged;
    return;
  }
  const Duration lasted = now - since_;
  if (lasted < std::clamp(2 * round_trip, kMeasureMin, kMeasureMax)) {
    return;
  }
  measured_.push_back({now, static_cast<double>(acknowledged - acknowledged_) / seconds(lasted)});
  while (measured_.size() > 2 && now - measured_.front().at > kRemember) {
    measured_.pop_front();
  }
  rate_ = std::max_element(measured_.begin(), measured_.end(), [](auto& a, auto& b) {
            return a.rate < b.rate;
          })->rate;
  since_ = now;
  acknowledged_ = acknowledged;
}

std::uint64_t Pace::window_bytes() const {
  if (loopback_) {
    return limits::kLoopbackWindow;
  }
  const Duration queue = std::max(round_trip_, limits::kInFlightTime);
  const auto window = static_cast<std::uint64_t>(rate_ * seconds(round_trip_ + queue));
  return std::max<std::uint64_t>(window, 2 * chunk_bytes());
}

std::size_t Pace::chunk_bytes() const {
  if (loopback_) {
    return limits::kChunkBytesMax;
  }
  const double fits = rate_ * seconds(limits::kChunkTime);
  return static_cast<std::size_t>(std::clamp(fits, static_cast<double>(kChunkBytesMin),
                                             static_cast<double>(limits::kChunkBytesMax)));
}

Duration Pace::retry() const {
  if (loopback_) {
    return milliseconds(1);
  }
  const double drains = static_cast<double>(chunk_bytes()) / std::max(rate_, 1.0);
  return std::clamp(from_seconds(drains / 2), Duration(milliseconds(1)), limits::kChunkTime);
}

}  // namespace shoal::comm
