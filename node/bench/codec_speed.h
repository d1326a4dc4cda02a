#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/base/clock.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Speed of one codec on one array, beside memcpy of the same array in the same run.
struct CodecSpeed {
  std::string codec;
  std::uint64_t elements = 0;
  double encode_gbps = 0;  ///< 1e9 bytes of floats in, a second
  double decode_gbps = 0;  ///< 1e9 bytes of floats out and accumulated, a second
  double memcpy_gbps = 0;  ///< 1e9 bytes copied, a second
  double ratio = 0;        ///< bytes as floats for each byte encoded
};

/// Times a codec with its default options on normally distributed floats of one tensor, one thread.
/// `least` is how long each of the three is repeated; the fastest repetition counts.
/// Errors: kConfig for an unknown codec; as the codec.
Result<CodecSpeed> time_codec(const std::string& name, std::uint64_t elements, Duration least,
                              const Clock& clock);

}  // namespace shoal::node
