#pragma once

#include <optional>

#include "node/bench/codec_trial.h"

namespace shoal::node {

/// What a codec makes of one tensor.
struct CodecQuality {
  std::uint64_t bytes = 0;
  double relative_error = 0;  ///< |decode(encode(x)) - x|^2 / |x|^2; 0 of zeros
  bool finite = true;         ///< all that was decoded
  double bits_a_value = 0;
  /// Of a sparse encoding (less than half of what is not zero decodes to something), else none.
  std::optional<double> bits_a_kept_value;
  /// |sent + owed - given| / |given| over some rounds of the same x; none where a codec's carry is
  /// no plain sum (it decays or has momentum).
  std::optional<double> telescoping_error;
};

/// Encodes and decodes as a sender does for `rounds` rounds of the same tensor.
/// Errors: as the codec, kData for NaN and Inf with the place.
Result<CodecQuality> judge_codec(CodecTrial trial, int rounds);

}  // namespace shoal::node
