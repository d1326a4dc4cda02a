#pragma once

// For files that keep vectors in structs, included before Highway: a vector whose width is known
// only at run time (SVE) can't be a member. Every machine that has SVE has NEON too.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
