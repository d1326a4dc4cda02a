#include "ops/base/clock.h"

#include <ctime>

namespace shoal {

TimePoint BootClock::now() const {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return {std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)};
}

}  // namespace shoal
