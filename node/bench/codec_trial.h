#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compress/codec.h"
#include "ops/base/result.h"

namespace shoal::node {

/// Numbers that codecs are tried on: one tensor.
struct CodecInput {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
/// Normally distributed, as a matrix that is as square as may be.
CodecInput normal_input(std::uint64_t elements);
/// An array of float32 as numpy.save writes it. Errors: kData, naming the file: not there, numbers
/// of another type, fewer of them than a codec is asked for.
Result<CodecInput> read_input(const std::string& path);

/// A codec with a tensor and what else it needs to encode it.
struct CodecTrial {
  std::string name;
  std::unique_ptr<compress::Codec> codec;
  std::unique_ptr<const ParamMap> map;
  std::vector<float> x;                    ///< the map's flat array
  std::unique_ptr<compress::State> state;  ///< replicated, if the codec has one
  std::uint64_t round = 1;

  [[nodiscard]] Range all() const { return {0, map->granule_count()}; }
  /// A sender's, of this round.
  [[nodiscard]] compress::CodecContext context() const;
  /// Appends the encoding of `s`. Errors: kData for NaN and Inf.
  Status encode(std::span<const float> s, ByteWriter& out) const;
  /// acc += what `bytes` mean.
  Status decode(ByteSpan bytes, std::span<float> acc) const;
  /// To the next round: the state takes in what a group of one would answer.
  Status advance(ByteSpan answer);
};

/// `codec` is NAME, or NAME:key=value:key=value with some of its options set.
/// Errors: kConfig for an unknown codec or key, or a wrong value.
Result<CodecTrial> make_trial(const std::string& codec, const CodecInput& input);

/// Every codec with its defaults and with each other choice of what it lets choose, so written.
std::vector<std::string> codec_variants();

}  // namespace shoal::node
