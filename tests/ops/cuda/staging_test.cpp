#include "ops/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

// The order of copies, on a made-up device that works as late, and its queues in as unlucky an
// order, as events allow.
namespace shoal::ops::cuda::tests {
namespace {

using shoal::tests::test_seed;

/// What queues have been given and not done. An event is a count of records of it that were queued,
/// and of those done.
struct Device {
  struct Item {
    std::function<bool()> ready;
    std::function<void()> run;
  };
  struct EventState {
    int queued = 0;
    int done = 0;
  };
  std::deque<Item> queues[2];
  std::deque<EventState> events;
  Rng rng{0, 0};

  bool step(std::size_t queue) {
    if (queues[queue].empty() || !queues[queue].front().ready()) {
      return false;
    }
    queues[queue].front().run();
    queues[queue].pop_front();
    return true;
  }
  /// Some work gets done: anything from nothing to all, one queue or both.
  void pass_time() {
    for (std::uint64_t left = rng.below(12); left > 0; --left) {
      step(rng.below(2));
    }
  }
  /// Until it holds; false when nothing moves any more.
  bool run_until(const std::function<bool()>& holds) {
    while (!holds()) {
      const std::size_t first = rng.below(2);
      if (!step(first) && !step(1 - first)) {
        return false;
      }
    }
    return true;
  }
};

struct MadeUpDriver {
  using Queue = std::size_t;
  using Event = std::size_t;
  Device* device = nullptr;

  std::int32_t copy(Queue queue, void* to, const void* from, std::size_t bytes) const {
    device->queues[queue].push_back({[] { return true; }, [=] { std::memcpy(to, from, bytes); }});
    device->pass_time();
    return 0;
  }
  std::int32_t record(Event event, Queue queue) const {
    Device* d = device;
    ++d->events[event].queued;
    d->queues[queue].push_back({[] { return true; }, [=] { ++d->events[event].done; }});
    return 0;
  }
  std::int32_t wait(Queue queue, Event event) const {
    Device* d = device;
    const int until = d->events[event].queued;
    d->queues[queue].push_back({[=] { return d->events[event].done >= until; }, [] {}});
    return 0;
  }
  std::int32_t reach(Event event) const {
    const int until = device->events[event].queued;
    return device->run_until([&] { return device->events[event].done >= until; }) ? 0 : 1;
  }
};

constexpr std::size_t kSlotBytes = 8;

/// A staging over such a device, and its memory.
struct Desk {
  Device device;
  Staging<MadeUpDriver> staging;
  std::vector<std::vector<char>> memory;

  explicit Desk(std::uint64_t seed) {
    device.rng = Rng(seed, 0);
    staging.driver.device = &device;
    staging.compute = 0;
    staging.copies = 1;
    staging.slot_bytes = kSlotBytes;
    memory.resize(2 * std::size(staging.slots), std::vector<char>(kSlotBytes));
    std::size_t next = 0;
    for (auto& slot : staging.slots) {
      slot.host = memory[next++].data();
      slot.device = memory[next++].data();
      slot.crossed = event();
      slot.taken = event();
    }
    staging.computed = event();
  }
  std::size_t event() {
    device.events.emplace_back();
    return device.events.size() - 1;
  }
  /// Work: sums[i] += x[i].
  void add(std::vector<char>& sums, const std::vector<char>& x) {
    device.queues[0].push_back({[] { return true; },
                                [&] {
                                  for (std::size_t i = 0; i < x.size(); ++i) {
                                    sums[i] = static_cast<char>(sums[i] + x[i]);
                                  }
                                }});
  }
};

TEST_CASE("what queued work reads is neither early nor late, whatever the device does first") {
  for (std::uint64_t seed = test_seed(90), end = seed + 300; seed < end; ++seed) {
    Desk desk(seed);
    Rng rng(seed, 1);
    const std::size_t size = rng.below(5 * kSlotBytes);
    std::vector<char> x(size), sums(size, 0), expected(size, 0);
    for (int round = 0; round < 12; ++round) {
      std::vector<char> given(size);
      for (std::size_t i = 0; i < size; ++i) {
        given[i] = static_cast<char>(rng.below(100));
        expected[i] = static_cast<char>(expected[i] + given[i]);
      }
      REQUIRE(desk.staging.put(x.data(), given.data(), size) == 0);
      std::fill(given.begin(), given.end(), char{0x55});  // may be used again at once
      desk.add(sums, x);
      if (rng.below(3) == 0) {
        std::vector<char> got(size);
        REQUIRE(desk.staging.get(got.data(), sums.data(), size) == 0);
        REQUIRE(got == expected);
      }
    }
  }
}

TEST_CASE("a copy to the device does not wait for the work that is queued") {
  Desk desk(test_seed(91));
  bool free = false;
  desk.device.queues[0].push_back({[&] { return free; }, [] {}});
  std::vector<char> x(2 * kSlotBytes), given(2 * kSlotBytes, 7), got(x.size());
  // As many chunks as there are buffers: with a queue that stands still, put() comes back.
  REQUIRE(desk.staging.put(x.data(), given.data(), given.size()) == 0);
  CHECK(x != given);
  free = true;
  REQUIRE(desk.staging.get(got.data(), x.data(), x.size()) == 0);
  CHECK(got == given);
}

}  // namespace
}  // namespace shoal::ops::cuda::tests
