#include <cstdio>

#include "node/bench/bench.h"
#include "node/bench/codec_quality.h"
#include "node/bench/codec_speed.h"
#include "node/json.h"

namespace shoal::node {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kInMemory = 1 << 24;  // 64 MiB of floats, past any cache
constexpr std::uint64_t kInCache = 1 << 15;   // 128 KiB
constexpr Duration kLeast = std::chrono::milliseconds(300);
constexpr int kRounds = 8;

Result<std::vector<CodecInput>> inputs_of(const CodecBench& what) {
  std::vector<CodecInput> inputs;
  if (!what.input.empty()) {
    SHOAL_ASSIGN(CodecInput input, read_input(what.input));
    inputs.push_back(std::move(input));
  } else if (what.elements > 0) {
    inputs.push_back(normal_input(what.elements));
  } else {
    inputs = {normal_input(kInMemory), normal_input(kInCache)};
  }
  return inputs;
}

ordered_json speed_row(const CodecTrial& trial, const CodecSpeed& speed) {
  return {{"codec", trial.name},
          {"elements", trial.map->parameter_count()},
          {"encode_gbps", speed.encode_gbps},
          {"decode_gbps", speed.decode_gbps},
          {"residual_gbps", speed.residual_gbps},
          {"memcpy_gbps", speed.memcpy_gbps},
          {"ratio", speed.ratio}};
}

void say(const Cli& cli, const CodecTrial& trial, const CodecSpeed& speed) {
  char line[200];
  std::snprintf(line, sizeof line,
                "%-24s %9llu floats   encode %6.2f   and keep the rest %6.2f   decode %6.2f   "
                "memcpy %6.2f GB/s   ratio %.2f",
                trial.name.c_str(), static_cast<unsigned long long>(trial.map->parameter_count()),
                speed.encode_gbps, speed.residual_gbps, speed.decode_gbps, speed.memcpy_gbps,
                speed.ratio);
  cli.log().info(line);
}

void add_quality(const CodecQuality& quality, ordered_json& row) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? json_number(*value) : ordered_json(nullptr);
  };
  row["bytes"] = quality.bytes;
  row["relative_error"] = json_number(quality.relative_error);
  row["finite"] = quality.finite;
  row["bits_a_value"] = quality.bits_a_value;
  row["bits_a_kept_value"] = optional(quality.bits_a_kept_value);
  row["telescoping_error"] = optional(quality.telescoping_error);
}

void say(const Cli& cli, const CodecQuality& quality) {
  char line[200];
  std::snprintf(line, sizeof line, "  relative error %.3g, %llu bytes, %.3f bits a value",
                quality.relative_error, static_cast<unsigned long long>(quality.bytes),
                quality.bits_a_value);
  std::string text = line;
  if (quality.bits_a_kept_value) {
    std::snprintf(line, sizeof line, ", %.2f a kept one", *quality.bits_a_kept_value);
    text += line;
  }
  if (quality.telescoping_error) {
    std::snprintf(line, sizeof line,
                  "; sent and owed are off by %.2g of what was given in %d rounds",
                  *quality.telescoping_error, kRounds);
    text += line;
  }
  cli.log().info(quality.finite ? text : text + "; NOT FINITE");
}

}  // namespace

Status bench_codec(const Cli& cli, const CodecBench& what) {
  if (what.elements > 0 && what.elements < kGranule) {
    return config_error("--elements must be at least " + std::to_string(kGranule) +
                        ": smaller tensors always travel as fp32");
  }
  SHOAL_ASSIGN(const auto inputs, inputs_of(what));
  const BootClock clock;
  ordered_json rows = nlohmann::json::array();
  for (const auto& name : what.codecs.empty() ? codec_variants() : what.codecs) {
    for (const CodecInput& input : inputs) {
      SHOAL_ASSIGN(CodecTrial trial, make_trial(name, input));
      SHOAL_ASSIGN(const CodecSpeed speed, time_codec(trial, kLeast, clock));
      say(cli, trial, speed);
      rows.push_back(speed_row(trial, speed));
      if (!what.input.empty()) {
        SHOAL_ASSIGN(const CodecQuality quality, judge_codec(std::move(trial), kRounds));
        say(cli, quality);
        add_quality(quality, rows.back());
      }
    }
  }
  if (cli.json) {
    std::puts(rows.dump(2).c_str());
  }
  return {};
}

}  // namespace shoal::node
