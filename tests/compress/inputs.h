#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compress/codec.h"
#include "ops/base/rng.h"

namespace shoal::compress::tests {

/// A codec with some options set, under a name for messages.
struct Variant {
  std::string name;
  std::unique_ptr<Codec> codec;
};

/// Every codec of the registry with its defaults, and with each option at each of its limits and
/// choices in turn.
std::vector<Variant> variants();

/// What a codec is given at once, and the context that it needs for it.
struct Sample {
  std::size_t elements = 0;
  std::size_t rows = 1;
  std::shared_ptr<const ParamMap> map{};  ///< of a whole tensor: it alone
  std::shared_ptr<const State> state{};   ///< replicated, if the codec has one
  CodecContext context{};                 ///< with that state
};
/// Of most codecs one granule of each of these sizes; of a codec of whole tensors, matrices of many
/// shapes instead, each with a fresh state and with one that has seen an answer.
std::vector<Sample> samples(const Codec& codec, const std::vector<std::size_t>& sizes);
/// A whole tensor, after so many answers.
Sample tensor_sample(const Codec& codec, std::int64_t rows, std::int64_t cols, int answers);

/// Kinds of input that codecs get wrong.
struct Input {
  std::string name;
  std::vector<float> x;
};
std::vector<Input> inputs(std::size_t elements, std::uint64_t seed);
/// Those that the codec has to take: one that adds up elements may refuse what overflows.
std::vector<Input> inputs(const Codec& codec, const Sample& sample, std::uint64_t seed);
std::vector<float> normal_input(std::size_t elements, std::uint64_t seed);

/// A map of a bit more than 10^6 elements: three tensors that fill or do not fill their last
/// granule, and small ones that are packed.
ParamMap big_map();
/// Normal values over the map's flat array, padding zero.
std::vector<float> map_input(const ParamMap& map, std::uint64_t seed);

/// The encoding of one granule; the test fails when it can't be encoded.
std::vector<std::byte> encoded(const Codec& codec, std::span<const float> x,
                               CodecContext context = {});
/// What it decodes to, signs of zeros kept; the test fails when it can't be decoded.
std::vector<float> decoded(const Codec& codec, ByteSpan bytes, std::size_t elements,
                           CodecContext context = {});

bool equal_bits(std::span<const float> a, std::span<const float> b);

}  // namespace shoal::compress::tests
