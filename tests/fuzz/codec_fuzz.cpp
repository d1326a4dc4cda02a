// Hostile bytes to every codec. Input: byte 0 picks the codec by its place in the registry, bytes
// 1 and 2 (little-endian) how many elements are expected, the rest is what a peer sent.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "compress/codec.h"
#include "compress/lane.h"
#include "ops/base/check.h"

namespace {

using namespace shoal;
using namespace shoal::compress;

/// One tensor of a granule and `elements` more, and a small one.
ParamMap map_of(std::int64_t elements) {
  ParamMap map;
  for (const std::int64_t size : {std::int64_t{kGranule} + elements, std::int64_t{7}}) {
    Param param;
    param.name = std::to_string(size);
    param.shape = {size};
    SHOAL_CHECK(map.add(std::move(param)).ok(), "the map is good");
  }
  map.seal();
  return map;
}

/// Whatever was accepted is finite.
void check_finite(std::span<const float> x) {
  SHOAL_CHECK(first_not_finite(x) == x.size(), "accepted bytes decode to finite values");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) {
    return 0;
  }
  const CodecEntry& entry = registry()[data[0] % registry().size()];
  const std::size_t elements = 1 + (data[1] + 256U * data[2]) % kGranule;
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data) + 3, size - 3);
  const auto codec = entry.make(Options::defaults(entry.options));

  std::vector<float> granule(elements);
  ByteReader in(bytes);
  if (codec->decode_add(in, {}, 1, granule).ok()) {
    check_finite(granule);
  }
  static const std::array<ParamMap, 2> maps{map_of(0), map_of(100)};
  const ParamMap& map = maps[elements % 2];
  std::vector<float> all(static_cast<std::size_t>(map.flat_size()));
  if (decode_granules(*codec, map, {0, map.granule_count()}, {}, bytes, 1, all).ok()) {
    check_finite(all);
  }
  return 0;
}
