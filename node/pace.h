#pragma once

#include <cstddef>

#include "node/config.h"
#include "ops/base/clock.h"
#include "ops/tensor.h"

namespace shoal::node {

/// What limits.cores comes to on a machine with `available` CPUs: how many of them the process may
/// use, and which share of its time the compute thread may work.
struct CorePlan {
  std::size_t cpus = 0;
  int blas_threads = 1;
  double share = 1;
};
/// cores = 0: no limit. A fraction of a core is a share of the time: 0.5 is one CPU half of the
/// time, 1.5 two CPUs, of which computing with one thread takes one.
CorePlan plan_cores(double cores, int blas_threads, std::size_t available);

/// CPUs that this process may run on at present.
std::size_t available_cpus();
/// Keeps this process, with all its threads, on `count` of the CPUs that it may run on now;
/// neighbours in the list of processes begin at different ones. Errors: kDevice.
Status keep_to_cpus(std::size_t count);

/// Share of its time that the compute thread works under limits.cores and, on a GPU,
/// limits.gpu_share; the smaller of both.
double compute_share(const Config& config, ops::DeviceKind device);

/// A duty cycle: after `busy` of work comes busy x (1/share - 1) of rest, in which the peer may
/// wait for others anyhow. Work that can't wait adds to the rest; waiting longer earns nothing.
class Pace {
 public:
  /// Requires: 0 < share <= 1.
  explicit Pace(double share) : share_(share) {}
  void worked(TimePoint end, Duration busy);
  /// When work may go on.
  [[nodiscard]] TimePoint next() const { return next_; }
  /// How long work may go on in one piece, so that rests are not too long to be of use to others.
  [[nodiscard]] Duration piece() const;

 private:
  double share_;
  TimePoint next_{};
};

}  // namespace shoal::node
