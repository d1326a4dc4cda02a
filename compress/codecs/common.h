#pragma once

#include <cmath>
#include <span>
#include <string>

#include "compress/lane.h"
#include "ops/base/result.h"

namespace shoal::compress {

/// kData: which value of `x` can't be encoded. Requires: one is NaN or Inf.
inline Status not_finite_error(std::span<const float> x) {
  const std::size_t i = first_not_finite(x);
  SHOAL_CHECK(i < x.size(), "a value that is not finite was seen before");
  return data_error("value " + std::to_string(i) + " is " +
                    (abs_bits(x[i]) == kInfBits ? "infinite" : "not a number"));
}

inline Status truncated_error(const char* codec) {
  return bad_frame(std::string(codec) + ": the encoding ends early");
}

/// kBadFrame for bytes that no encoder of ours writes.
inline Status foreign_error(const char* codec, const char* what) {
  return bad_frame(std::string(codec) + ": the encoding holds " + what);
}

}  // namespace shoal::compress
