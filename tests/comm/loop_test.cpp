#include "comm/loop.h"

#include <stdexcept>

#include "tests/comm/still_endpoint.h"
#include "tests/support/catch.h"

namespace shoal::comm::tests {
namespace {

using std::chrono::milliseconds;

TimePoint at(int ms) { return {milliseconds(ms)}; }

struct World {
  StillEndpoint endpoint;
  Loop loop{endpoint, nullptr};
  std::vector<std::string> trace;
  void say(const std::string& what) {
    trace.push_back(what + "@" + std::to_string(loop.now().since_start / milliseconds(1)));
  }
  void run(TimePoint end = kNever) { tests::run(endpoint, loop, end); }
};

/// Says when it is destroyed: what stands behind a suspension must go with its frame.
struct Witness {
  int& alive;
  explicit Witness(int& count) : alive(count) { ++alive; }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { --alive; }
};

Task<void> sleeper(World& w, std::string name, int ms) {
  co_await w.loop.sleep_for(milliseconds(ms));
  w.say(name);
}

Task<int> value_after(World& w, int ms, int value) {
  co_await w.loop.sleep_for(milliseconds(ms));
  co_return value;
}

Task<int> thrower(World& w, int ms) {
  co_await w.loop.sleep_for(milliseconds(ms));
  throw std::runtime_error("at " + std::to_string(ms));
}

}  // namespace

TEST_CASE("tasks sleep in virtual time, those of one time in the order of their call") {
  World w;
  w.loop.spawn(sleeper(w, "b", 20));
  w.loop.spawn(sleeper(w, "a", 10));
  w.loop.spawn(sleeper(w, "c", 20));
  CHECK(w.trace.empty());
  w.run();
  CHECK(w.trace == std::vector<std::string>{"a@10", "b@20", "c@20"});
}

TEST_CASE("a spawned task starts at the next turn and is gone when it has ended") {
  World w;
  const auto id = w.loop.spawn(sleeper(w, "a", 5));
  CHECK(w.loop.running(id));
  CHECK(w.trace.empty());
  w.run(at(4));
  CHECK(w.loop.running(id));
  w.run();
  CHECK_FALSE(w.loop.running(id));
  w.loop.cancel(id);
  w.loop.cancel(12345);
}

TEST_CASE("a cancelled task runs no further, and everything below it is destroyed") {
  World w;
  int alive = 0;
  const auto inner = [](World& world, int& count) -> Task<void> {
    const Witness witness(count);
    co_await world.loop.sleep_for(milliseconds(10));
    world.say("inner");
  };
  const auto outer = [](World& world, int& count, auto& make) -> Task<void> {
    const Witness witness(count);
    co_await make(world, count);
    world.say("outer");
  };
  const auto id = w.loop.spawn(outer(w, alive, inner));
  w.run(at(3));
  CHECK(alive == 2);
  w.loop.cancel(id);
  CHECK(alive == 0);
  CHECK(w.loop.next_timer() == kNever);
  w.run();
  CHECK(w.trace.empty());
}

TEST_CASE("a task that was woken but has not run yet can be cancelled") {
  World w;
  Signal signal(w.loop);
  const auto wait = [](World& world, Signal& s, std::string name) -> Task<void> {
    const bool woken = co_await s.wait(at(50));
    world.say(name + (woken ? " woken" : " late"));
  };
  const auto first = w.loop.spawn(wait(w, signal, "first"));
  w.loop.spawn(wait(w, signal, "second"));
  w.run(at(1));
  signal.notify();
  w.loop.cancel(first);
  w.run();
  CHECK(w.trace == std::vector<std::string>{"second woken@0"});
}

TEST_CASE("a signal wakes those who wait now, a deadline the others") {
  World w;
  Signal signal(w.loop);
  const auto wait = [](World& world, Signal& s, std::string name, int deadline) -> Task<void> {
    const bool woken = co_await s.wait(at(deadline));
    world.say(name + (woken ? " woken" : " late"));
  };
  w.loop.spawn(wait(w, signal, "a", 10));
  w.loop.spawn(wait(w, signal, "b", 30));
  w.loop.add_timer(at(20), [&] { signal.notify(); });
  w.run(at(15));
  w.loop.spawn(wait(w, signal, "c", 40));
  w.run(at(20));
  w.loop.spawn(wait(w, signal, "d", 40));  // after the pulse: waits for the next one
  w.run();
  CHECK(w.trace == std::vector<std::string>{"a late@10", "b woken@20", "c woken@20", "d late@40"});
}

TEST_CASE("a destroyed signal leaves its waiters to their deadlines") {
  World w;
  auto signal = std::make_unique<Signal>(w.loop);
  const auto wait = [](World& world, Signal& s) -> Task<void> {
    const bool woken = co_await s.wait(at(10));
    world.say(woken ? "woken" : "late");
  };
  w.loop.spawn(wait(w, *signal));
  w.run(at(1));
  signal.reset();
  w.run();
  CHECK(w.trace == std::vector<std::string>{"late@10"});
}

TEST_CASE("timers fire once, in order, and can be cancelled, also by each other") {
  World w;
  std::uint64_t second = 0;
  w.loop.add_timer(at(10), [&] {
    w.say("first");
    w.loop.cancel_timer(second);
    w.loop.add_timer(at(10), [&] { w.say("third"); });
  });
  second = w.loop.add_timer(at(10), [&] { w.say("second"); });
  w.run();
  CHECK(w.trace == std::vector<std::string>{"first@10", "third@10"});
}

TEST_CASE("many timers, some cancelled, come in the order of their times") {
  World w;
  std::vector<std::uint64_t> ids;
  std::vector<int> fired;
  for (int i = 0; i < 500; ++i) {
    const int when = (i * 7919) % 97;
    ids.push_back(w.loop.add_timer(at(when), [&fired, when] { fired.push_back(when); }));
  }
  for (std::size_t i = 0; i < ids.size(); i += 3) {
    w.loop.cancel_timer(ids[i]);
  }
  w.run();
  CHECK(fired.size() == 333);
  CHECK(std::is_sorted(fired.begin(), fired.end()));
}

TEST_CASE("when_all runs at once and gives values in order") {
  World w;
  const auto all = [](World& world) -> Task<void> {
    std::vector<Task<int>> tasks;
    tasks.push_back(value_after(world, 30, 1));
    tasks.push_back(value_after(world, 10, 2));
    tasks.push_back(value_after(world, 20, 3));
    const auto values = co_await when_all(world.loop, std::move(tasks));
    world.say(std::to_string(values[0] * 100 + values[1] * 10 + values[2]));
    const auto none = co_await when_all(world.loop, std::vector<Task<int>>());
    world.say(std::to_string(none.size()));
  };
  w.loop.spawn(all(w));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"123@30", "0@30"});
}

TEST_CASE("when_all throws the first exception in order, after the last task has ended") {
  World w;
  const auto all = [](World& world) -> Task<void> {
    std::vector<Task<int>> tasks;
    tasks.push_back(value_after(world, 30, 1));
    tasks.push_back(thrower(world, 20));
    tasks.push_back(thrower(world, 10));
    try {
      co_await when_all(world.loop, std::move(tasks));
    } catch (const std::runtime_error& e) {
      world.say(e.what());
    }
  };
  w.loop.spawn(all(w));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"at 20@30"});
}

TEST_CASE("when_any ends with the first and destroys the others") {
  World w;
  const auto any = [](World& world) -> Task<void> {
    std::vector<Task<void>> tasks;
    tasks.push_back(sleeper(world, "slow", 30));
    tasks.push_back(sleeper(world, "fast", 10));
    const auto index = co_await when_any(world.loop, std::move(tasks));
    world.say("any " + std::to_string(index));
    co_await world.loop.sleep_for(milliseconds(100));
  };
  w.loop.spawn(any(w));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"fast@10", "any 1@10"});
}

TEST_CASE("cancelling a task that waits for several destroys them all") {
  World w;
  int alive = 0;
  const auto held = [](World& world, int& count) -> Task<void> {
    const Witness witness(count);
    co_await world.loop.sleep_for(milliseconds(10));
  };
  const auto all = [](World& world, int& count, auto& make) -> Task<void> {
    std::vector<Task<void>> tasks;
    tasks.reserve(4);
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(make(world, count));
    }
    co_await when_all(world.loop, std::move(tasks));
    world.say("ended");
  };
  const auto id = w.loop.spawn(all(w, alive, held));
  w.run(at(5));
  CHECK(alive == 4);
  w.loop.cancel(id);
  CHECK(alive == 0);
  w.run();
  CHECK(w.trace.empty());
}

TEST_CASE("offloads of one kind queue in virtual time, kinds do not wait for each other") {
  World w;
  const auto job = [](World& world, Offload kind, int cost, std::string name) -> Task<void> {
    const int ran_at = co_await world.loop.offload(
        kind, [&world] { return static_cast<int>(world.loop.now().since_start / milliseconds(1)); },
        milliseconds(cost));
    world.say(name + " ran at " + std::to_string(ran_at));
  };
  w.loop.spawn(job(w, Offload::kCompute, 30, "a"));
  w.loop.spawn(job(w, Offload::kCompute, 20, "b"));
  w.loop.spawn(job(w, Offload::kCodec, 10, "c"));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"c ran at 0@10", "a ran at 0@30", "b ran at 0@50"});
}

TEST_CASE("the loop goes on serving while an offload is under way") {
  World w;
  w.loop.add_timer(at(10), [&] { w.say("timer"); });
  const auto job = [](World& world) -> Task<void> {
    co_await world.loop.offload(
        Offload::kIo, [] {}, milliseconds(20));
    world.say("done");
  };
  w.loop.spawn(job(w));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"timer@10", "done@20"});
}

TEST_CASE("an offloaded function owns its buffers once, runs though cancelled, and may throw") {
  World w;
  const auto buffer = std::make_shared<int>(7);
  int runs = 0;
  const auto job = [](World& world, std::shared_ptr<int> data, int& count) -> Task<void> {
    auto add = [data = std::move(data), &count] { count += *data; };
    co_await world.loop.offload(Offload::kCodec, add, milliseconds(10));
    world.say("done");
  };
  SECTION("cancelled") {
    const auto id = w.loop.spawn(job(w, buffer, runs));
    w.run(at(5));
    w.loop.cancel(id);
    w.run();
    CHECK(runs == 7);
    CHECK(w.trace.empty());
  }
  SECTION("to its end") {
    w.loop.spawn(job(w, buffer, runs));
    w.run();
    CHECK(w.trace == std::vector<std::string>{"done@10"});
  }
  SECTION("throws") {
    const auto bad = [](World& world) -> Task<void> {
      try {
        co_await world.loop.offload(Offload::kIo,
                                    []() -> int { throw std::runtime_error("full"); });
      } catch (const std::runtime_error& e) {
        world.say(e.what());
      }
    };
    w.loop.spawn(bad(w));
    w.run();
    CHECK(w.trace == std::vector<std::string>{"full@0"});
  }
  CHECK(buffer.use_count() == 1);
}

TEST_CASE("posted functions run at the next turn, in order") {
  World w;
  w.loop.post([&] {
    w.say("a");
    w.loop.post([&] { w.say("c"); });
  });
  w.loop.post([&] { w.say("b"); });
  CHECK(w.trace.empty());
  w.run();
  CHECK(w.trace == std::vector<std::string>{"a@0", "b@0", "c@0"});
}

TEST_CASE("a long chain of tasks that never suspend does not use up the stack") {
  World w;
  const auto one = []() -> Task<int> { co_return 1; };
  const auto many = [](World& world, auto& make) -> Task<void> {
    int sum = 0;
    for (int i = 0; i < 20000; ++i) {
      sum += co_await make();
    }
    world.say(std::to_string(sum));
  };
  w.loop.spawn(many(w, one));
  w.run();
  CHECK(w.trace == std::vector<std::string>{"20000@0"});
}

TEST_CASE("events reach the handler before timers that are due") {
  World w;
  w.loop.set_event_handler([&](Event& event) {
    CHECK(std::holds_alternative<Connected>(event));
    w.say("event");
  });
  w.endpoint.events.emplace_back(Connected{});
  w.loop.add_timer(at(0), [&] { w.say("timer"); });
  w.run();
  CHECK(w.trace == std::vector<std::string>{"event@0", "timer@0"});
}

TEST_CASE("a loop that is destroyed takes its tasks along") {
  int alive = 0;
  {
    World w;
    Signal signal(w.loop);
    const auto wait = [](Signal& s, int& count) -> Task<void> {
      const Witness witness(count);
      co_await s.wait();
    };
    w.loop.spawn(wait(signal, alive));
    w.run();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

}  // namespace shoal::comm::tests
