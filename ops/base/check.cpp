#include "ops/base/check.h"

#include <cstdio>
#include <exception>

namespace shoal {

void check_failed(const char* condition, const char* message, const char* file, int line) noexcept {
  std::fprintf(stderr, "shoal: internal error: %s (%s) at %s:%d; please report it\n", message,
               condition, file, line);
  std::fflush(stderr);
  std::terminate();
}

}  // namespace shoal
