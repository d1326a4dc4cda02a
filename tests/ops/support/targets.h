#pragma once

#include <functional>

#include "hwy/highway.h"
#include "ops/cpu/elementwise.h"
#include "tests/support/catch.h"

namespace shoal::ops::tests {

/// Runs `check` under every vector target that this machine has, and puts the choice back.
inline void for_each_target(const std::function<void()>& check) {
  std::int64_t left = hwy::SupportedTargets();
  while (left != 0) {
    const std::int64_t target = left & -left;
    left &= left - 1;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    INFO("target " << cpu::vector_target());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace shoal::ops::tests
