#include "node/data/loader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <numeric>
#include <set>
#include <thread>

#include "comm/workers.h"
#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal::tests {
namespace {

using node::Loader;
using node::Pick;
using node::Split;

/// Sample i of step s is the pair (i, s); its target i. Sample 13 is broken.
class Numbers final : public node::Dataset {
 public:
  std::uint32_t size(Split /*split*/) const override { return 100; }
  const ops::Port& input() const override { return input_; }
  std::int64_t classes() const override { return 100; }
  std::span<const std::int32_t> labels(Split /*split*/) const override { return labels_; }
  std::uint64_t held_bytes(std::uint64_t /*count*/) const override { return 0; }
  Status hold(Split /*split*/, std::span<const std::uint32_t> /*indices*/) override { return {}; }

  mutable std::atomic<int> fills = 0;
  mutable std::atomic<int> running = 0;
  std::chrono::milliseconds lasts{0};  ///< of each fill at least

 protected:
  Status do_fill(const Pick& pick, ops::TensorView x, ops::TensorView targets) const override {
    ++fills;
    ++running;
    Status status;
    float* out = x.as<float>();
    std::int32_t* label = targets.as<std::int32_t>();
    for (const std::uint32_t index : pick.indices) {
      if (index == 13) {
        status = data_error("sample 13 is broken");
      }
      *out++ = static_cast<float>(index);
      *out++ = static_cast<float>(pick.step);
      *label++ = static_cast<std::int32_t>(index);
    }
    std::this_thread::sleep_for(lasts);
    --running;
    return status;
  }

 private:
  ops::Port input_{ops::Shape{2}, false};
  std::vector<std::int32_t> labels_ = std::vector<std::int32_t>(100, 0);
};

/// Functions that run when the test says so.
struct Queue {
  std::deque<std::function<void()>> functions;
  Loader::Post post() {
    return [this](std::function<void()> fn) { functions.push_back(std::move(fn)); };
  }
  void run() {
    while (!functions.empty()) {
      const auto fn = std::move(functions.front());
      functions.pop_front();
      fn();
    }
  }
};

using Indices = std::vector<std::uint32_t>;

void require_batch(const Result<Loader::Batch>& batch, const Indices& indices, std::uint64_t step) {
  REQUIRE(batch.ok());
  const auto x = batch->x.span<float>();
  const auto targets = batch->targets.span<std::int32_t>();
  REQUIRE(x.size() == 2 * indices.size());
  REQUIRE(batch->x.shape == ops::Shape{static_cast<std::int64_t>(indices.size()), 2});
  for (std::size_t i = 0; i < indices.size(); ++i) {
    REQUIRE(x[2 * i] == static_cast<float>(indices[i]));
    REQUIRE(x[2 * i + 1] == static_cast<float>(step));
    REQUIRE(targets[i] == static_cast<std::int32_t>(indices[i]));
  }
}

TEST_CASE("loader: what was announced is filled beside, once, and the batch in use stays") {
  const auto data = std::make_shared<Numbers>();
  Queue queue;
  Loader loader(data, queue.post(), 0);
  const Indices a = {1, 2, 3};
  const Indices b = {4, 5};
  const auto first = loader.take({Split::kTrain, a, 7});
  loader.announce({Split::kTrain, b, 8});
  CHECK(data->fills == 1);
  queue.run();
  CHECK(data->fills == 2);
  require_batch(first, a, 7);
  require_batch(loader.take({Split::kTrain, b, 8}), b, 8);
  CHECK(data->fills == 2);
  require_batch(loader.take({Split::kTrain, b, 8}), b, 8);  // an announcement serves once
  CHECK(data->fills == 3);
}

TEST_CASE("loader: a step waits neither for a busy thread nor for a wrong guess") {
  const auto data = std::make_shared<Numbers>();
  Queue queue;
  Loader loader(data, queue.post(), 0);
  const Indices a = {1, 2};
  const Indices b = {3, 4};
  loader.announce({Split::kTrain, a, 0});
  require_batch(loader.take({Split::kTrain, a, 0}), a, 0);  // the thread has not come to it
  queue.run();
  CHECK(data->fills == 1);
  loader.announce({Split::kTrain, a, 1});
  queue.run();
  require_batch(loader.take({Split::kTrain, b, 1}), b, 1);  // guessed wrong: kept
  require_batch(loader.take({Split::kTrain, a, 1}), a, 1);
  CHECK(data->fills == 3);
  for (std::uint64_t step = 2; step < 50; ++step) {  // a thread that never comes is asked once
    loader.announce({Split::kTrain, a, step});
  }
  CHECK(queue.functions.size() == 1);
  queue.run();
  require_batch(loader.take({Split::kTrain, a, 49}), a, 49);
  CHECK(data->fills == 4);
}

TEST_CASE("loader: a batch of few bytes is not worth waking a thread") {
  const auto data = std::make_shared<Numbers>();
  Queue queue;
  Loader loader(data, queue.post(), 3 * 12);  // a sample is two reals and an index
  const Indices two = {1, 2};
  loader.announce({Split::kTrain, two, 0});
  CHECK(queue.functions.empty());
  require_batch(loader.take({Split::kTrain, two, 0}), two, 0);
  CHECK(data->fills == 1);
  const Indices three = {1, 2, 3};
  loader.announce({Split::kTrain, three, 1});
  queue.run();
  CHECK(data->fills == 2);
  require_batch(loader.take({Split::kTrain, three, 1}), three, 1);
  CHECK(loader.ready_batches() == 1);
}

TEST_CASE("loader: an error reaches whoever takes the batch, and the next is good") {
  const auto data = std::make_shared<Numbers>();
  Queue queue;
  for (const bool beside : {true, false}) {
    Loader loader(data, beside ? queue.post() : Loader::Post{}, 0);
    const Indices bad = {12, 13};
    const Indices good = {14};
    loader.announce({Split::kTrain, bad, 0});
    queue.run();
    loader.announce({Split::kTrain, bad, 0});  // again: an announcement replaces the one before
    queue.run();
    const auto refused = loader.take({Split::kTrain, bad, 0});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kData);
    CHECK(refused.error().message == "sample 13 is broken");
    loader.announce({Split::kTrain, good, 1});
    queue.run();
    require_batch(loader.take({Split::kTrain, good, 1}), good, 1);
  }
}

TEST_CASE("loader: on a real thread values and order are those of a direct fill") {
  const std::uint64_t seed = test_seed(9);
  const auto data = std::make_shared<Numbers>();
  comm::ThreadWorkers workers;
  const Loader::Post post = [&workers](std::function<void()> fn) {
    workers.post(comm::Offload::kIo, std::move(fn), [] {});
  };
  Loader loader(data, post, 0);
  Rng rng(seed, 0);
  Indices next = {1};
  for (std::uint64_t step = 0; step < 5000; ++step) {
    const Indices now = next;
    require_batch(loader.take({Split::kTrain, now, step}), now, step);
    next.resize(1 + rng.below(9));
    for (auto& index : next) {
      index = static_cast<std::uint32_t>(14 + rng.below(80));
    }
    const Indices guess = rng.below(8) == 0 ? Indices{5} : next;  // wrong at times
    loader.announce({Split::kTrain, guess, step + 1});
    if (rng.below(16) == 0) {
      loader.announce({Split::kTrain, next, step + 1});
    }
  }
}

TEST_CASE("loader: ended early, nothing is left running") {
  comm::ThreadWorkers workers;
  const Loader::Post post = [&workers](std::function<void()> fn) {
    workers.post(comm::Offload::kIo, std::move(fn), [] {});
  };
  Indices all(100);
  std::iota(all.begin(), all.end(), 0U);
  for (std::uint64_t round = 0; round < 200; ++round) {
    const auto data = std::make_shared<Numbers>();
    const bool begun = round % 20 == 0;  // the fill is under way, or over, when the loader ends
    data->lasts = begun ? std::chrono::milliseconds(5) : std::chrono::milliseconds(0);
    {
      Loader loader(data, post, 0);
      loader.announce({Split::kTrain, all, round});
      while (begun && data->fills == 0) {  // not `running`: on a busy machine it may be over again
        std::this_thread::yield();
      }
      if (round % 3 == 0) {
        require_batch(loader.take({Split::kTrain, std::span(all).first(5), round}), {0, 1, 2, 3, 4},
                      round);
      }
    }
    REQUIRE(data->running == 0);
    REQUIRE(data.use_count() == 1);
  }
}

TEST_CASE("loader: in steady state it fills the same memory again") {
  const auto data = std::make_shared<Numbers>();
  Queue queue;
  Loader loader(data, queue.post(), 0);
  std::set<const void*> places;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Indices now = {static_cast<std::uint32_t>(14 + step), 2, 3};
    const auto batch = loader.take({Split::kTrain, now, step});
    require_batch(batch, now, step);
    places.insert(batch->x.data);
    const Indices next = {static_cast<std::uint32_t>(15 + step), 2, 3};
    loader.announce({Split::kTrain, next, step + 1});
    queue.run();
  }
  CHECK(places.size() == 2);
}

}  // namespace
}  // namespace shoal::tests
