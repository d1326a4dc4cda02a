#pragma once

#include "compress/codec.h"
#include "ops/base/clock.h"

namespace shoal::compress {

/// What one float of a large tensor costs. Units: seconds, bytes.
struct CodecCost {
  double encode_s = 0;
  double decode_s = 0;  ///< decode and add
  double bytes = 0;
};

/// A slow core's: for virtual time, where nothing may be measured. 1 GB/s of floats each way, 4
/// GB/s without loss; bytes at their bound.
CodecCost nominal_cost(const Codec& codec);

/// This machine's, measured on normally distributed floats; takes some milliseconds.
/// Errors: as the codec.
Result<CodecCost> measured_cost(const Codec& codec, const Clock& clock);

}  // namespace shoal::compress
