#include "ops/fp_env.h"

#include <cfenv>
#include <limits>

#include "tests/support/catch.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace shoal::ops {
namespace {

TEST_CASE("a thread that was put out of IEEE arithmetic is put back") {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040U);  // flush-to-zero, denormals-are-zero
#endif
  std::fesetround(FE_UPWARD);
  CHECK_FALSE(fp_env_is_strict());
  set_strict_fp_env();
  CHECK(fp_env_is_strict());

  volatile float smallest = std::numeric_limits<float>::min();
  CHECK(smallest / 4 > 0);  // a denormal, neither flushed nor read as zero
  volatile float one = 1.0F;
  volatile float tiny = 1e-10F;
  CHECK(one + tiny == one);  // to nearest, not up
}

}  // namespace
}  // namespace shoal::ops
