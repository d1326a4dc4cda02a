#include "node/pace.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace shoal::node {
namespace {

constexpr Duration kPiece = std::chrono::milliseconds(50);

cpu_set_t own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

/// `count` of the CPUs of `all`, beginning with the `first`.
cpu_set_t choose(const cpu_set_t& all, std::size_t first, std::size_t count) {
  std::vector<std::size_t> listed;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) {
      listed.push_back(cpu);
    }
  }
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (std::size_t i = 0; i < std::min(count, listed.size()); ++i) {
    CPU_SET(listed[(first + i) % listed.size()], &chosen);
  }
  return chosen;
}

}  // namespace

CorePlan plan_cores(double cores, int blas_threads, std::size_t available) {
  CorePlan plan{available, blas_threads, 1};
  if (cores <= 0) {
    return plan;
  }
  plan.cpus = std::min(static_cast<std::size_t>(std::ceil(cores)), available);
  plan.blas_threads = std::min(blas_threads, static_cast<int>(plan.cpus));
  plan.share = std::min(1.0, cores / plan.blas_threads);
  return plan;
}

std::size_t available_cpus() {
  const cpu_set_t set = own_cpus();
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

Status keep_to_cpus(std::size_t count) {
  const cpu_set_t chosen = choose(own_cpus(), static_cast<std::size_t>(::getpid()), count);
  // Thread by thread: those that libraries started before main() are bound too.
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  if (tasks == nullptr) {
    return device_error("limits.cores: the threads of this process can't be listed");
  }
  while (const dirent* entry = ::readdir(tasks.get())) {  // NOLINT(concurrency-mt-unsafe): ours
    const auto task = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (task > 0 && ::sched_setaffinity(task, sizeof chosen, &chosen) != 0 && errno != ESRCH) {
      return device_error("limits.cores: the system refuses to bind this process: " +
                          std::system_category().message(errno));
    }
  }
  return {};
}

double compute_share(const Config& config, ops::DeviceKind device) {
  const CorePlan plan =
      plan_cores(config.get_float("limits.cores"),
                 static_cast<int>(config.get_int("device.blas_threads")), available_cpus());
  const bool gpu = device != ops::DeviceKind::kCpu;
  return gpu ? std::min(plan.share, config.get_float("limits.gpu_share")) : plan.share;
}

void Pace::worked(TimePoint end, Duration busy) {
  next_ = std::max(end, next_) + from_seconds(seconds(busy) * (1 / share_ - 1));
}

Duration Pace::piece() const { return share_ < 1 ? kPiece : Duration::max(); }

}  // namespace shoal::node
