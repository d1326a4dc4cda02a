#include "compress/codec.h"

#include <cstdio>

#include "node/bench/bench.h"
#include "node/bench/codec_speed.h"
#include "node/json.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kInMemory = 1 << 24;  // 64 MiB of floats, past any cache
constexpr std::uint64_t kInCache = 1 << 15;   // 128 KiB
constexpr Duration kLeast = std::chrono::milliseconds(300);

}  // namespace

Status bench_codec(const Cli& cli, const CodecBench& what) {
  std::vector<std::string> names = what.codecs;
  for (const auto& entry : compress::registry()) {
    if (what.codecs.empty()) {
      names.push_back(entry.name);
    }
  }
  const std::vector<std::uint64_t> sizes =
      what.elements > 0 ? std::vector{what.elements} : std::vector{kInMemory, kInCache};
  const BootClock clock;
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const auto& name : names) {
    for (const std::uint64_t elements : sizes) {
      SHOAL_ASSIGN(const CodecSpeed speed, time_codec(name, elements, kLeast, clock));
      rows.push_back({{"codec", speed.codec},
                      {"elements", speed.elements},
                      {"encode_gbps", speed.encode_gbps},
                      {"decode_gbps", speed.decode_gbps},
                      {"memcpy_gbps", speed.memcpy_gbps},
                      {"ratio", speed.ratio}});
      char line[160];
      std::snprintf(line, sizeof line,
                    "%-8s %10llu floats   encode %6.2f   decode %6.2f   memcpy %6.2f GB/s   "
                    "ratio %.2f",
                    name.c_str(), static_cast<unsigned long long>(elements), speed.encode_gbps,
                    speed.decode_gbps, speed.memcpy_gbps, speed.ratio);
      cli.log().info(line);
    }
  }
  if (cli.json) {
    std::puts(rows.dump(2).c_str());
  }
  return {};
}

}  // namespace shoal::node
