// Codecs beside what they are to reach: GB/s of floats, one thread on one CPU, medians, of an array
// in memory (64 MiB) and one in cache (128 KiB); PowerSGD beside its two products; and sizes.
// The goals are those of AVX-512, half of them holds for shorter vectors. Where memcpy of the same
// array in memory is slower than 6.5 GB/s, goals in memory shrink with it.
// Exit: 0 when all is met, 1 when something is not (or the codec is missing), 2 for usage.
#include <hwy/targets.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "node/bench/codec_quality.h"
#include "node/bench/codec_speed.h"
#include "node/bench/median.h"
#include "tests/bench/codecs/index_bits.h"
#include "tests/bench/codecs/product.h"

namespace shoal::bench {
namespace {

using node::CodecSpeed;
using node::CodecTrial;

constexpr std::uint64_t kInMemory = 1 << 24;
constexpr std::uint64_t kInCache = 1 << 15;
constexpr double kMemcpyGbps = 6.5;

struct Question {
  bool json = false;
  std::string only;  ///< a codec's name
  Duration least = std::chrono::milliseconds(300);
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_codecs: %s\n", why.c_str());
  std::_Exit(2);
}

Question parse(int argc, char** argv) {
  Question question;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      question.json = true;
    } else if (argument == "--row" && i + 1 < argc) {
      question.only = argv[++i];
    } else if (argument == "--seconds" && i + 1 < argc) {
      question.least = from_seconds(std::strtod(argv[++i], nullptr));
    } else {
      give_up("usage: bench_codecs [--json] [--row CODEC] [--seconds S]");
    }
  }
  return question;
}

/// A figure of an array in memory and of one in cache, and what each is to reach; 0: nothing.
struct Goal {
  const char* codec;
  const char* what;
  double CodecSpeed::*figure;
  double memory;
  double cache;
};

constexpr Goal kGoals[] = {
    {"fp16", "encode", &CodecSpeed::encode_gbps, 8, 40},
    {"bf16", "encode", &CodecSpeed::encode_gbps, 8, 40},
    {"int8", "encode", &CodecSpeed::encode_gbps, 7, 20},
    {"int4", "encode and keep the rest", &CodecSpeed::residual_gbps, 4, 12},
    {"sign", "encode", &CodecSpeed::encode_gbps, 15, 40},
    {"topk", "encode", &CodecSpeed::encode_gbps, 8, 5},
    {"topk:select=exact", "encode", &CodecSpeed::encode_gbps, 2, 5},
    {"qsgd", "encode", &CodecSpeed::encode_gbps, 2, 0},
    {"ternary", "encode", &CodecSpeed::encode_gbps, 2, 0},
    {"demo", "encode", &CodecSpeed::encode_gbps, 0.5, 0},
    {"fp16", "decode and add", &CodecSpeed::decode_gbps, 8, 30},
    {"int8", "decode and add", &CodecSpeed::decode_gbps, 10, 30},
    {"sign", "decode and add", &CodecSpeed::decode_gbps, 10, 30},
};

class Table {
 public:
  explicit Table(Question question) : question_(std::move(question)) {}

  [[nodiscard]] bool wants(const std::string& codec) {
    const bool wanted = question_.only.empty() || codec == question_.only ||
                        codec.compare(0, question_.only.size() + 1, question_.only + ":") == 0;
    any_ = any_ || wanted;
    return wanted;
  }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool all_met() const { return all_met_; }
  [[nodiscard]] Duration least() const { return question_.least; }

  void missing(const std::string& codec, const std::string& what) {
    write({{"row", codec}, {"what", what}, {"met", false}, {"missing", true}},
          row(codec, what) + "  missing");
  }

  void speed(const Goal& goal, const CodecSpeed& memory, const CodecSpeed& cache) {
    constexpr std::int64_t kAvx512 = HWY_AVX3 | HWY_AVX3_DL;
    const double lanes = (hwy::SupportedTargets() & kAvx512) != 0 ? 1 : 0.5;
    const double shrink = lanes * std::min(1.0, memory.memcpy_gbps / kMemcpyGbps);
    const double in_memory = memory.*goal.figure;
    const double in_cache = cache.*goal.figure;
    const bool met = in_memory >= goal.memory * shrink && in_cache >= goal.cache * lanes;
    char text[200];
    std::snprintf(text, sizeof text, " %8.2f of %5.2f   %8.2f of %5.2f   %8.2f %8.2f  %s",
                  in_memory, goal.memory * shrink, in_cache, goal.cache * lanes, memory.memcpy_gbps,
                  cache.memcpy_gbps, met ? "met" : "NOT MET");
    write({{"row", goal.codec},
           {"what", goal.what},
           {"memory_gbps", in_memory},
           {"memory_to_reach", goal.memory * shrink},
           {"cache_gbps", in_cache},
           {"cache_to_reach", goal.cache * lanes},
           {"memory_memcpy_gbps", memory.memcpy_gbps},
           {"cache_memcpy_gbps", cache.memcpy_gbps},
           {"met", met}},
          row(goal.codec, goal.what) + text);
  }

  /// A figure that may be at most so large.
  void at_most(const std::string& codec, const std::string& what, double figure, double most) {
    char text[100];
    std::snprintf(text, sizeof text, " %8.3f, at most %.2f  %s", figure, most,
                  figure <= most ? "met" : "NOT MET");
    write({{"row", codec},
           {"what", what},
           {"figure", figure},
           {"at_most", most},
           {"met", figure <= most}},
          row(codec, what) + text);
  }

  void heading() {
    if (!question_.json) {
      std::printf("%-46s %18s %19s %17s\n%-46s %18s %19s %8s %8s\n", "GB/s of floats",
                  "64 MiB, to reach", "128 KiB, to reach", "memcpy", "", "", "", "64 MiB",
                  "128 KiB");
    }
  }

 private:
  static std::string row(const std::string& codec, const std::string& what) {
    char text[100];
    std::snprintf(text, sizeof text, "%-20s %-25s", codec.c_str(), what.c_str());
    return text;
  }
  void write(const nlohmann::ordered_json& json, const std::string& text) {
    all_met_ = all_met_ && json["met"];
    std::printf("%s\n", question_.json ? json.dump().c_str() : text.c_str());
    std::fflush(stdout);
  }

  Question question_;
  bool any_ = false;
  bool all_met_ = true;
};

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) {
    give_up(result.error().message);
  }
  return std::move(result).value();
}

void speeds(Table& table, const BootClock& clock) {
  const auto memory = node::normal_input(kInMemory);
  const auto cache = node::normal_input(kInCache);
  std::map<std::string, std::pair<CodecSpeed, CodecSpeed>> measured;
  for (const Goal& goal : kGoals) {
    if (!table.wants(goal.codec)) {
      continue;
    }
    if (measured.count(goal.codec) == 0) {
      auto in_memory = node::make_trial(goal.codec, memory);
      if (!in_memory.ok()) {
        table.missing(goal.codec, goal.what);
        continue;
      }
      auto in_cache = need(node::make_trial(goal.codec, cache));
      measured[goal.codec] = {need(node::time_codec(*in_memory, table.least(), clock)),
                              need(node::time_codec(in_cache, table.least(), clock))};
    }
    const auto& [in_memory, in_cache] = measured[goal.codec];
    table.speed(goal, in_memory, in_cache);
  }
}

/// Seconds of two encodings, one with the basis on each side, over those of the two products.
double power_over_products(CodecTrial trial, Duration least, const BootClock& clock) {
  ByteWriter out;
  const auto encode = [&] {
    out.truncate(0);
    return trial.encode(trial.x, out);
  };
  double encode_s = need(node::median_seconds(encode, least, clock));
  if (!trial.advance(out.span()).ok()) {
    give_up("the state does not take its own answer");
  }
  encode_s += need(node::median_seconds(encode, least, clock));
  const auto& shape = trial.map->params().front().shape;
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto cols = static_cast<std::size_t>(shape[1]);
  const std::vector<float> basis(kProductRank * std::max(rows, cols), 0.01F);
  std::vector<float> factor(kProductRank * std::max(rows, cols));
  const auto right = [&]() -> Status {
    product_right(trial.x.data(), rows, cols, basis.data(), factor.data());
    return {};
  };
  const auto left = [&]() -> Status {
    std::fill(factor.begin(), factor.end(), 0.0F);
    product_left(trial.x.data(), rows, cols, basis.data(), factor.data());
    return {};
  };
  return encode_s / (need(node::median_seconds(right, least, clock)) +
                     need(node::median_seconds(left, least, clock)));
}

void power(Table& table, const BootClock& clock) {
  const std::string codec = "powersgd:rank=4";
  if (!table.wants(codec)) {
    return;
  }
  for (const auto& [elements, where] :
       {std::pair{kInMemory, "time / products, 64 MiB"}, {kInCache, "time / products, 128 KiB"}}) {
    auto trial = node::make_trial(codec, node::normal_input(elements));
    if (trial.ok()) {
      table.at_most(codec, where, power_over_products(std::move(*trial), table.least(), clock),
                    1.3);
    } else {
      table.missing(codec, where);
    }
  }
}

void sizes(Table& table) {
  if (table.wants("rice")) {
    for (const double percent : {10.0, 1.0, 0.1}) {
      char what[40];
      std::snprintf(what, sizeof what, "bits / entropy, %g %%", percent);
      table.at_most("rice", what, rice_over_entropy(percent / 100), 1.02);
    }
  }
  if (table.wants("topk:values=int8")) {
    auto trial = need(node::make_trial("topk:values=int8", node::normal_input(1 << 20)));
    const auto quality = need(node::judge_codec(std::move(trial), 1));
    table.at_most("topk:values=int8", "bits a kept value", quality.bits_a_kept_value.value_or(99),
                  17);
  }
}

int compare_all(int argc, char** argv) {
  Table table(parse(argc, argv));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
  const BootClock clock;
  table.heading();
  speeds(table, clock);
  power(table, clock);
  sizes(table);
  if (!table.any()) {
    give_up("there is no such row");
  }
  return table.all_met() ? 0 : 1;
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) { return shoal::bench::compare_all(argc, argv); }
