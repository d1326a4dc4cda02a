#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compress/codec.h"
#include "ops/base/result.h"
#include "tests/compress/inputs.h"

namespace shoal::compress::tests {

/// One golden vector: a codec with these options turns x into `bytes`, and those into y.
struct CodecVector {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::int64_t> tensor;  ///< of a whole tensor: rows, columns, answers before
  std::vector<float> x;
  std::vector<std::byte> bytes;
  std::vector<float> y;
  std::string hash;  ///< of a whole tensor: of the bytes of y, which is not kept
};

/// tests/golden/<codec>.txt: a line `wire_id N`, then per vector the lines `case`, `option` (any
/// number), `x`, `bytes` and `y`, the last three in hex; bytes of floats in memory order. Where
/// tensors are whole, a line `tensor` stands for x, which is drawn from it, and `hash` for y.
std::string golden_path(const CodecEntry& entry);
/// Errors: kData when the file is missing or malformed.
Result<std::vector<CodecVector>> read_golden(const CodecEntry& entry);
/// The vectors as the code at hand makes them.
std::string golden_text(const CodecEntry& entry);
/// The vector's codec. Errors: kConfig.
Result<std::unique_ptr<Codec>> codec_of(const CodecEntry& entry, const CodecVector& vector);
/// The context that the vector was made in, and what it holds on to.
Sample sample_of(const Codec& codec, const CodecVector& vector);

}  // namespace shoal::compress::tests
