#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "comm/loop.h"
#include "ops/base/clock.h"

namespace shoal::node {

/// Workers that know how long each kind of thread was busy: what of an exchange is work, and what
/// is waiting, can only be told there. Threads: any.
class TimedWorkers final : public comm::Workers {
 public:
  /// The clock outlives it.
  TimedWorkers(std::unique_ptr<comm::Workers> workers, const Clock& clock)
      : clock_(clock), workers_(std::move(workers)) {}

  void post(comm::Offload kind, std::function<void()> fn, std::function<void()> done) override;
  /// Since the start, of functions that have ended.
  [[nodiscard]] Duration busy(comm::Offload kind) const;

 private:
  const Clock& clock_;
  std::array<std::atomic<Duration::rep>, comm::kOffloadKinds> busy_{};
  std::unique_ptr<comm::Workers> workers_;  // last: it runs to its end what was posted
};

}  // namespace shoal::node
