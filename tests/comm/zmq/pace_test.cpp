#include "comm/zmq/pace.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "comm/limits.h"
#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;

/// A link that is fed by a Pace as the endpoint does: it carries what is in flight at its rate and
/// acknowledges it a round trip later.
struct FakeLink {
  double rate = 0;
  Duration round_trip{0};
  bool more_waits = true;
  TimePoint now{};
  double sent = 0;
  double carried = 0;
  double acknowledged = 0;
  std::deque<std::pair<TimePoint, double>> on_the_way{};

  /// The longest that a byte queued.
  double run(Pace& pace, Duration lasts) {
    const Duration tick = milliseconds(1);
    double queue_most = 0;
    for (const TimePoint end = now + lasts; now < end; now = now + tick) {
      while (!on_the_way.empty() && on_the_way.front().first <= now) {
        acknowledged += on_the_way.front().second;
        on_the_way.pop_front();
      }
      pace.sample(now, static_cast<std::uint64_t>(acknowledged), round_trip, more_waits);
      const double chunk = static_cast<double>(pace.chunk_bytes());
      while (sent - acknowledged + chunk <= static_cast<double>(pace.window_bytes())) {
        sent += chunk;
      }
      queue_most = std::max(queue_most, sent - carried);
      const double moves = std::min(sent - carried, rate * seconds(tick));
      carried += moves;
      on_the_way.emplace_back(now + round_trip, moves);
    }
    return queue_most / rate;
  }
};

TEST_CASE("pace: the window finds the link and its queue stays short") {
  for (const double rate : {125e3, 1.25e6, 12.5e6, 125e6}) {
    for (const int round_trip_ms : {1, 20, 100, 200}) {
      INFO("rate " << rate << " round trip " << round_trip_ms);
      const Duration round_trip = milliseconds(round_trip_ms);
      Pace pace(false);
      FakeLink link{rate, round_trip};
      link.run(pace, milliseconds(6000));
      // A measure lasts ten ticks at least, and its ends may each be off by a tick: 20 %.
      CHECK(pace.rate() > 0.8 * rate);
      CHECK(pace.rate() < 1.2 * rate);
      // The queue: kInFlightTime or one round trip, a chunk (kChunkTime or the smallest) more.
      const double queue = link.run(pace, milliseconds(2000));
      const double chunk = static_cast<double>(pace.chunk_bytes()) / rate;
      const double allowed = std::max(seconds(limits::kInFlightTime), seconds(round_trip)) + chunk;
      CHECK(queue < 1.2 * allowed + 0.2 * seconds(round_trip));
    }
  }
}

TEST_CASE("pace: a link that became slower is believed") {
  Pace pace(false);
  FakeLink link{12.5e6, milliseconds(20)};
  link.run(pace, milliseconds(3000));
  CHECK(pace.rate() > 0.8 * 12.5e6);
  link.rate = 1.25e6;
  link.run(pace, milliseconds(4000));
  CHECK(pace.rate() < 1.2 * 1.25e6);
  CHECK(static_cast<double>(pace.chunk_bytes()) <= 1.2 * 1.25e6 * seconds(limits::kChunkTime));
}

TEST_CASE("pace: what was sent while nothing waited says nothing of the link") {
  Pace pace(false);
  const double before = pace.rate();
  FakeLink link{100, milliseconds(20), false};
  link.run(pace, milliseconds(3000));
  CHECK(pace.rate() == before);
}

TEST_CASE("pace: chunks and windows stay within their limits whatever is measured") {
  for (const double rate : {0.0, 1.0, 1e12}) {
    Pace pace(false);
    for (int i = 0; i < 100; ++i) {
      pace.sample(TimePoint{milliseconds(20 * i)}, static_cast<std::uint64_t>(rate * 0.02 * i),
                  milliseconds(1), true);
    }
    CHECK(pace.chunk_bytes() >= 1024);
    CHECK(pace.chunk_bytes() <= limits::kChunkBytesMax);
    CHECK(pace.window_bytes() >= 2 * pace.chunk_bytes());
    CHECK(pace.retry() >= milliseconds(1));
    CHECK(pace.retry() <= limits::kChunkTime);
  }
  CHECK(Pace(true).chunk_bytes() == limits::kChunkBytesMax);
}

}  // namespace
}  // namespace shoal::comm
