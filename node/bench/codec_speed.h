#pragma once

#include "node/bench/codec_trial.h"
#include "ops/base/clock.h"

namespace shoal::node {

/// Speed of one codec on one tensor, beside memcpy of the same tensor in the same run. Units: 1e9
/// bytes of floats, in or out, a second.
struct CodecSpeed {
  double encode_gbps = 0;
  double decode_gbps = 0;    ///< decoded and accumulated
  double residual_gbps = 0;  ///< encoded, and what that lost kept in the carry
  double memcpy_gbps = 0;
  double ratio = 0;  ///< bytes as floats for each byte encoded
};

/// Times a codec, one thread; medians over `least` for each figure, and over two rounds where there
/// is a state, since PowerSGD's sides take turns. Errors: as the codec.
Result<CodecSpeed> time_codec(CodecTrial& trial, Duration least, const Clock& clock);

}  // namespace shoal::node
