#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "compress/codec.h"
#include "node/bench_codec.h"
#include "node/cli/registry.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kInMemory = 1 << 24;  // 64 MiB of floats, past any cache
constexpr std::uint64_t kInCache = 1 << 15;   // 128 KiB
constexpr Duration kLeast = std::chrono::milliseconds(300);

struct BenchArguments {
  std::string what;
  std::vector<std::string> codecs;
  std::uint64_t elements = 0;
};

Status bench_codecs(const Cli& cli, const BenchArguments& arguments) {
  std::vector<std::string> names = arguments.codecs;
  for (const auto& entry : compress::registry()) {
    if (arguments.codecs.empty()) {
      names.push_back(entry.name);
    }
  }
  const std::vector<std::uint64_t> sizes =
      arguments.elements > 0 ? std::vector{arguments.elements} : std::vector{kInMemory, kInCache};
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

int run_bench(const Cli& cli, const BenchArguments& arguments) {
  const Status status = bench_codecs(cli, arguments);
  return status.ok() ? 0 : cli.fail(status.error());
}

Runner declare(CLI::App& app, Cli& /*cli*/) {
  auto arguments = std::make_shared<BenchArguments>();
  app.add_option("what", arguments->what, "codec")->required()->check(CLI::IsMember({"codec"}));
  app.add_option("names", arguments->codecs, "which codecs; all if left out");
  app.add_option("--elements", arguments->elements,
                 "floats of the array; one in memory and one in cache if 0")
      ->check(CLI::Range(0, 1 << 28));
  return [arguments](const Cli& cli) { return run_bench(cli, *arguments); };
}

}  // namespace

Command bench_command() { return {"bench", "speed of parts of shoal on this machine", declare}; }

}  // namespace shoal::node
