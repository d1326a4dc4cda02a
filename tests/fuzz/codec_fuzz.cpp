// Hostile bytes to every codec. Input: byte 0 picks the codec by its place in the registry, bytes
// 1 and 2 (little-endian) how many elements are expected, the rest is what a peer sent.
#include <algorithm>
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

/// One tensor of a granule and `rows` rows more, and a small one.
ParamMap map_of(std::int64_t rows) {
  ParamMap map;
  for (const std::int64_t size : {64 + rows, std::int64_t{7}}) {
    Param param;
    param.name = std::to_string(size);
    param.shape = size == 7 ? std::vector{size} : std::vector{size, std::int64_t{64}};
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
  static const std::array<ParamMap, 2> maps{map_of(0), map_of(2)};
  const ParamMap& map = maps[elements % 2];
  const Range whole{0, map.granule_count()};
  const auto state = codec->make_state(map, 1);
  const CodecContext context{.run_seed = 1, .round = 1, .state = state.get()};
  std::vector<float> all(static_cast<std::size_t>(map.flat_size()));
  if (decode_granules(*codec, map, whole, context, bytes, 1, all).ok()) {
    check_finite(all);
    SHOAL_CHECK(state == nullptr || state->advance(whole, context, bytes).ok(),
                "what decodes moves the state on");
  }
  if (state != nullptr) {  // as a joiner gets it
    ByteReader saved(bytes);
    if (state->load(saved).ok()) {
      ByteWriter again;
      state->save(again);
      SHOAL_CHECK(std::ranges::equal(again.span(), bytes.first(again.size())),
                  "a state is saved as it was read");
    }
  }
  return 0;
}
