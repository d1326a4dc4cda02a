#pragma once

#include <cstdint>
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

/// Kinds of input that codecs get wrong.
struct Input {
  std::string name;
  std::vector<float> x;
};
std::vector<Input> inputs(std::size_t elements, std::uint64_t seed);
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
std::vector<float> decoded(const Codec& codec, ByteSpan bytes, std::size_t elements);

bool equal_bits(std::span<const float> a, std::span<const float> b);

}  // namespace shoal::compress::tests
