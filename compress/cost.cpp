#include "compress/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/base/rng.h"

namespace shoal::compress {
namespace {

constexpr std::int64_t kSide = 256;  // a matrix of 16 granules, for codecs that see matrices
constexpr int kPasses = 5;

}  // namespace

CodecCost nominal_cost(const Codec& codec) {
  const double each_way = codec.properties().lossless ? 1e-9 : 4e-9;
  const auto granule = static_cast<double>(kGranule);
  const auto rows = static_cast<std::size_t>(std::sqrt(granule));
  return {each_way, each_way, static_cast<double>(codec.bytes_max(kGranule, rows)) / granule};
}

Result<CodecCost> measured_cost(const Codec& codec, const Clock& clock) {
  ParamMap map;
  Param param;
  param.name = "sample";
  param.shape = {kSide, kSide};
  SHOAL_TRY(map.add(std::move(param)));
  map.seal();
  const Range all{0, map.granule_count()};
  const auto elements = static_cast<double>(map.flat_size());
  std::vector<float> x(static_cast<std::size_t>(map.flat_size()));
  Rng rng(1, 0);
  std::generate(x.begin(), x.end(), [&] { return static_cast<float>(rng.normal()); });
  std::vector<float> y(x.size());
  const auto state = codec.make_state(map, 1);
  const CodecContext context{.run_seed = 1, .round = 1, .state = state.get()};

  CodecCost cost{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                 0};
  ByteWriter out;
  for (int pass = 0; pass < kPasses; ++pass) {
    out.truncate(0);
    const TimePoint start = clock.now();
    SHOAL_TRY(encode_granules(codec, map, all, x, context, out));
    const TimePoint encoded = clock.now();
    SHOAL_TRY(decode_granules(codec, map, all, context, out.span(), 1, y));
    const TimePoint decoded = clock.now();
    cost.encode_s = std::min(cost.encode_s, seconds(encoded - start) / elements);
    cost.decode_s = std::min(cost.decode_s, seconds(decoded - encoded) / elements);
  }
  cost.bytes = static_cast<double>(out.size()) / elements;
  return cost;
}

}  // namespace shoal::compress
