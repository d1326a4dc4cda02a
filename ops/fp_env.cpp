#include "ops/fp_env.h"

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace shoal::ops {

#if defined(__x86_64__)

namespace {
// All exceptions masked, round to nearest, neither flush-to-zero nor denormals-are-zero.
constexpr unsigned kStrictMxcsr = 0x1F80U;
constexpr unsigned kStatusFlags = 0x3FU;
}  // namespace

void set_strict_fp_env() noexcept { _mm_setcsr(kStrictMxcsr); }
bool fp_env_is_strict() noexcept { return (_mm_getcsr() & ~kStatusFlags) == kStrictMxcsr; }

#elif defined(__aarch64__)

// FPCR 0: round to nearest, no flush-to-zero, NaN propagated, no traps.
void set_strict_fp_env() noexcept {
  const std::uint64_t strict = 0;
  asm volatile("msr fpcr, %0" : : "r"(strict));
}
bool fp_env_is_strict() noexcept {
  std::uint64_t now = 0;
  asm volatile("mrs %0, fpcr" : "=r"(now));
  return now == 0;
}

#else
#error "say here how this machine is put into IEEE arithmetic"
#endif

}  // namespace shoal::ops
