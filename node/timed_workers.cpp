#include "node/timed_workers.h"

#include <utility>

namespace shoal::node {

void TimedWorkers::post(comm::Offload kind, std::function<void()> fn, std::function<void()> done) {
  auto timed = [fn = std::move(fn), &clock = clock_,
                &busy = busy_[static_cast<std::size_t>(kind)]] {
    const TimePoint start = clock.now();
    fn();
    busy += (clock.now() - start).count();
  };
  workers_->post(kind, std::move(timed), std::move(done));
}

Duration TimedWorkers::busy(comm::Offload kind) const {
  return Duration(busy_[static_cast<std::size_t>(kind)].load());
}

}  // namespace shoal::node
