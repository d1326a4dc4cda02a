#pragma once

#include <cmath>
#include <span>
#include <string>

#include "compress/codec.h"
#include "compress/lane.h"
#include "ops/base/check.h"
#include "ops/base/rng.h"

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

/// The random words of one granule of one encoding.
inline Draws draws_of(const CodecContext& context) {
  const std::uint64_t key =
      mix(mix(context.run_seed, context.round), mix(context.granule, context.sender));
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

/// The option of codecs that round to nearest, or at random so that they are unbiased.
inline OptionSpec rounding_option() {
  return {.name = "rounding",
          .type = OptionType::kString,
          .default_value = std::string("nearest"),
          .help = "to the nearest value, or at random to either, without bias",
          .minimum = {},
          .maximum = {},
          .choices = {"nearest", "stochastic"},
          .scope = Scope::kPeer};
}
inline bool rounds_randomly(const Options& options) {
  return options.get_string("rounding") == "stochastic";
}

/// The option of how many elements share a scale.
inline OptionSpec block_option(std::int64_t size, double minimum) {
  return {.name = "block",
          .type = OptionType::kInt,
          .default_value = size,
          .help = "elements that share a scale",
          .minimum = minimum,
          .maximum = static_cast<double>(kGranule),
          .choices = {},
          .scope = Scope::kPeer};
}

}  // namespace shoal::compress
