#include "node/bench/codec_speed.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compress/codec.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kDrawn = 1 << 20;  // normals are slow to draw; larger arrays repeat them

std::vector<float> normals(std::size_t count) {
  Rng rng(kSeed, 0);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = i < kDrawn ? static_cast<float>(rng.normal()) : values[i - kDrawn];
  }
  return values;
}

/// Seconds of the fastest call of `body`, which is repeated for `least` and once before.
template <typename Body>
Result<double> fastest(Body body, Duration least, const Clock& clock) {
  SHOAL_TRY(body());
  double best = std::numeric_limits<double>::infinity();
  const TimePoint end = clock.now() + least;
  do {
    const TimePoint start = clock.now();
    SHOAL_TRY(body());
    best = std::min(best, seconds(clock.now() - start));
  } while (clock.now() < end);
  return std::max(best, 1e-9);
}

Result<ParamMap> map_of(std::uint64_t elements) {
  ParamMap map;
  Param param;
  param.name = "x";
  param.shape = {static_cast<std::int64_t>(elements)};
  SHOAL_TRY(map.add(std::move(param)));
  map.seal();
  return map;
}

}  // namespace

Result<CodecSpeed> time_codec(const std::string& name, std::uint64_t elements, Duration least,
                              const Clock& clock) {
  SHOAL_ASSIGN(const auto codec, compress::make_codec(name, {}));
  SHOAL_ASSIGN(const ParamMap map, map_of(elements));
  const auto size = static_cast<std::size_t>(map.flat_size());
  const std::vector<float> x = normals(size);
  std::vector<float> y(size);
  const Range all{0, map.granule_count()};
  const auto state = codec->make_state(map, kSeed);
  const compress::CodecContext context{.run_seed = kSeed, .round = 1, .state = state.get()};
  const double gigabytes = static_cast<double>(size) * sizeof(float) / 1e9;

  ByteWriter encoded;
  const auto encode = [&] {
    encoded.truncate(0);
    return encode_granules(*codec, map, all, x, context, encoded);
  };
  const auto decode = [&] {
    return decode_granules(*codec, map, all, context, encoded.span(), 1.0F, y);
  };
  const auto copy = [&]() -> Status {
    std::memcpy(y.data(), x.data(), size * sizeof(float));
    return {};
  };
  SHOAL_ASSIGN(const double encode_s, fastest(encode, least, clock));
  SHOAL_ASSIGN(const double decode_s, fastest(decode, least, clock));
  SHOAL_ASSIGN(const double copy_s, fastest(copy, least, clock));
  CodecSpeed speed;
  speed.codec = name;
  speed.elements = elements;
  speed.encode_gbps = gigabytes / encode_s;
  speed.decode_gbps = gigabytes / decode_s;
  speed.memcpy_gbps = gigabytes / copy_s;
  speed.ratio = static_cast<double>(size) * sizeof(float) / static_cast<double>(encoded.size());
  return speed;
}

}  // namespace shoal::node
