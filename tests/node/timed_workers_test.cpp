#include "node/timed_workers.h"

#include "tests/support/catch.h"

namespace shoal::node::tests {
namespace {

using std::chrono::milliseconds;

class HandClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  void pass(Duration d) { now_ = now_ + d; }

 private:
  TimePoint now_{};
};

class AtOnce final : public comm::Workers {
 public:
  void post(comm::Offload, std::function<void()> fn, std::function<void()> done) override {
    fn();
    done();
  }
};

}  // namespace

TEST_CASE("timed workers: each kind's time is its own, and done() is not part of it") {
  HandClock clock;
  TimedWorkers workers(std::make_unique<AtOnce>(), clock);
  int done = 0;
  const auto finish = [&] {
    clock.pass(milliseconds(100));
    ++done;
  };
  workers.post(
      comm::Offload::kCodec, [&] { clock.pass(milliseconds(3)); }, finish);
  workers.post(
      comm::Offload::kCompute, [&] { clock.pass(milliseconds(5)); }, finish);
  workers.post(
      comm::Offload::kCodec, [&] { clock.pass(milliseconds(4)); }, finish);
  CHECK(done == 3);
  CHECK(workers.busy(comm::Offload::kCodec) == milliseconds(7));
  CHECK(workers.busy(comm::Offload::kCompute) == milliseconds(5));
  CHECK(workers.busy(comm::Offload::kIo) == Duration{0});
}

}  // namespace shoal::node::tests
