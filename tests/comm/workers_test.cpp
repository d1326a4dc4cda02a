#include "comm/workers.h"

#include <set>
#include <thread>

#include "ops/fp_env.h"
#include "tests/comm/still_endpoint.h"
#include "tests/support/catch.h"

namespace shoal::comm::tests {

TEST_CASE("each kind of offload has a thread, in IEEE arithmetic, and results come back on ours") {
  BlockingEndpoint endpoint;
  ThreadWorkers workers;
  Loop loop(endpoint, &workers);
  const auto ours = std::this_thread::get_id();
  std::set<std::thread::id> threads;
  const auto job = [](Loop& l, std::set<std::thread::id>& seen, std::thread::id own) -> Task<void> {
    for (int i = 0; i < 30; ++i) {
      const auto [id, strict] = co_await l.offload(static_cast<Offload>(i % 3), [] {
        return std::pair(std::this_thread::get_id(), ops::fp_env_is_strict());
      });
      CHECK(strict);
      CHECK(std::this_thread::get_id() == own);
      seen.insert(id);
    }
    l.stop();
  };
  loop.spawn(job(loop, threads, ours));
  loop.run();
  CHECK(threads.size() == 3);
  CHECK_FALSE(threads.contains(ours));
}

TEST_CASE("offloads of one kind run in order, and all that was posted runs before the end") {
  std::vector<int> order;
  {
    ThreadWorkers workers;
    for (int i = 0; i < 100; ++i) {
      workers.post(
          Offload::kIo, [&order, i] { order.push_back(i); }, [] {});
    }
  }
  CHECK(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("work may outlive the loop that asked for it") {
  BlockingEndpoint endpoint;
  ThreadWorkers workers;
  std::atomic<int> ran{0};
  {
    Loop loop(endpoint, &workers);
    const auto job = [](Loop& l, std::atomic<int>& count) -> Task<void> {
      l.post([&l] { l.stop(); });
      co_await l.offload(Offload::kCompute, [&count] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++count;
      });
      ++count;  // never: the loop is gone
    };
    loop.spawn(job(loop, ran));
    loop.run();
  }
  { const ThreadWorkers others; }
  while (ran == 0) {
    std::this_thread::yield();
  }
  CHECK(ran == 1);
}

TEST_CASE("a timer ends a real wait") {
  BlockingEndpoint endpoint;
  ThreadWorkers workers;
  Loop loop(endpoint, &workers);
  const TimePoint start = loop.now();
  loop.add_timer(start + std::chrono::milliseconds(5), [&] { loop.stop(); });
  loop.run();
  CHECK(loop.now() - start >= std::chrono::milliseconds(5));
}

}  // namespace shoal::comm::tests
