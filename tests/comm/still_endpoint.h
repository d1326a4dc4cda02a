#pragma once

#include <condition_variable>
#include <mutex>

#include "comm/loop.h"

namespace shoal::comm::tests {

/// An endpoint without a network: for what needs only a loop. Virtual time stands still until
/// `run` moves it.
class StillEndpoint : public Endpoint {
 public:
  PeerId self() const override { return {}; }
  TimePoint now() const override { return time; }
  bool virtual_time() const override { return true; }
  void allow(const PeerId&, const std::vector<std::string>&) override {}
  void forget(const PeerId&) override {}
  SendResult send(const PeerId&, Class, Message) override { return SendResult::kUnreachable; }
  bool room(const PeerId&, std::uint64_t) const override { return false; }
  std::vector<Event> take_events() override { return std::exchange(events, {}); }
  void wait(TimePoint) override {}
  void wake() override {}
  LinkStats stats(const PeerId&) const override { return {}; }
  LinkStats totals() const override { return {}; }
  void close(Duration) override {}

  TimePoint time;
  std::vector<Event> events;
};

/// The same with real time: `wait` blocks and `wake` ends it from any thread.
class BlockingEndpoint final : public StillEndpoint {
 public:
  TimePoint now() const override { return clock_.now(); }
  bool virtual_time() const override { return false; }
  void wait(TimePoint deadline) override {
    std::unique_lock lock(mutex_);
    const auto woken = [this] { return woken_; };
    if (deadline == kNever) {
      changed_.wait(lock, woken);
    } else {
      changed_.wait_for(lock, deadline - now(), woken);
    }
    woken_ = false;
  }
  void wake() override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }

 private:
  BootClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

/// Runs the loop through virtual time until no timer is left or `end` has come.
inline void run(StillEndpoint& endpoint, Loop& loop, TimePoint end = kNever) {
  for (;;) {
    const TimePoint next = loop.run_ready();
    if (next == kNever || next > end) {
      break;
    }
    endpoint.time = next;
  }
}

}  // namespace shoal::comm::tests
