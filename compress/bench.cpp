#include "compress/bench.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "compress/codec.h"
#include "ops/base/rng.h"

namespace shoal::compress {
namespace {

constexpr std::uint64_t kDistinctValues = 1 << 18;  // then they repeat: drawing takes long
constexpr std::uint64_t kElementsTimed = 1 << 20;   // of one timing, at least
constexpr double kShortest = 1e-9;                  // a clock that stood still

std::vector<float> normal_values(std::uint64_t count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  Rng rng(1, 0);
  const auto distinct = static_cast<std::size_t>(std::min(count, kDistinctValues));
  for (std::size_t i = 0; i < distinct; ++i) {
    x[i] = static_cast<float>(rng.normal());
  }
  for (std::size_t i = distinct; i < x.size(); ++i) {
    x[i] = x[i - distinct];
  }
  return x;
}

ParamMap one_tensor(std::uint64_t elements) {
  ParamMap map;
  Param param;
  param.name = "x";
  param.shape = {static_cast<std::int64_t>(elements)};
  const Status added = map.add(std::move(param));
  SHOAL_CHECK(added.ok(), "one tensor makes a map");
  map.seal();
  return map;
}

/// Median rate of `work`, which goes through `elements` floats, in GB/s.
double rate(const Clock& clock, std::uint64_t elements, int repeats,
            const std::function<void()>& work) {
  const std::uint64_t calls = std::max<std::uint64_t>(kElementsTimed / elements, 1);
  work();  // pages, caches, dispatch
  std::vector<double> times;
  for (int r = 0; r < repeats; ++r) {
    const TimePoint start = clock.now();
    for (std::uint64_t c = 0; c < calls; ++c) {
      work();
    }
    times.push_back(std::max(seconds(clock.now() - start), kShortest));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return 4e-9 * static_cast<double>(elements) * static_cast<double>(calls) / *middle;
}

Result<BenchRow> bench_one(const Clock& clock, const CodecEntry& entry, std::uint64_t elements,
                           int repeats) {
  const auto codec = entry.make(Options::defaults(entry.options));
  const ParamMap map = one_tensor(elements);
  const Range all{0, map.granule_count()};
  std::vector<float> x = normal_values(elements);
  x.resize(static_cast<std::size_t>(map.flat_size()));
  std::vector<float> acc(x.size());
  const auto state = codec->make_state(map);

  ByteWriter out;
  Status status;
  const auto encode = [&] {
    out.truncate(0);
    status = encode_granules(*codec, map, all, x, {}, state.get(), out);
  };
  const auto decode = [&] { status = decode_granules(*codec, map, all, out.span(), 1, acc); };
  const auto copy = [&] { std::memcpy(acc.data(), x.data(), x.size() * sizeof(float)); };

  BenchRow row;
  row.codec = entry.name;
  row.elements = elements;
  row.encode_gbps = rate(clock, elements, repeats, encode);
  SHOAL_TRY(status);
  row.decode_gbps = rate(clock, elements, repeats, decode);
  SHOAL_TRY(status);
  row.memcpy_gbps = rate(clock, elements, repeats, copy);
  row.ratio = static_cast<double>(out.size()) / (4.0 * static_cast<double>(elements));
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> bench_codecs(const Clock& clock, std::span<const std::uint64_t> sizes,
                                           int repeats) {
  std::vector<BenchRow> rows;
  for (const std::uint64_t elements : sizes) {
    if (elements == 0 || repeats < 1) {
      return config_error("a codec bench needs sizes and repeats of at least 1");
    }
    for (const CodecEntry& entry : registry()) {
      SHOAL_ASSIGN(rows.emplace_back(), bench_one(clock, entry, elements, repeats));
    }
  }
  return rows;
}

}  // namespace shoal::compress
