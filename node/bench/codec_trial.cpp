#include "node/bench/codec_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "node/data/byte_source.h"
#include "node/data/npy.h"
#include "ops/base/rng.h"

namespace shoal::node {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kSender = 1;
constexpr std::size_t kDrawn = 1 << 20;  // normals are slow to draw; larger arrays repeat them

Result<CodecInput> read_floats(ByteSource& source) {
  SHOAL_ASSIGN(const NpyHeader header, read_npy_header(source));
  if (header.type != NpyType::kF32) {
    return data_error("holds numbers that are no float32");
  }
  CodecInput input;
  input.shape = {header.count};
  const auto& item = header.item.dims();
  input.shape.insert(input.shape.end(), item.begin(), item.end());
  input.values.resize(header.count * header.item.elements());
  if (input.values.size() < kGranule) {
    return data_error("holds " + std::to_string(input.values.size()) +
                      " numbers; tensors of less than " + std::to_string(kGranule) +
                      " always travel as fp32");
  }
  SHOAL_TRY(source.read(std::as_writable_bytes(std::span(input.values))));
  SHOAL_TRY(source.expect_end());
  return input;
}

/// The codec behind NAME:key=value:key=value.
Result<std::unique_ptr<compress::Codec>> codec_of(const std::string& text) {
  std::istringstream words(text);
  std::string name;
  std::getline(words, name, ':');
  const auto& entries = compress::registry();
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.name == name; });
  Options options;
  for (std::string word; entry != entries.end() && std::getline(words, word, ':');) {
    const std::string key = word.substr(0, word.find('='));
    const auto spec = std::find_if(entry->options.begin(), entry->options.end(),
                                   [&](const OptionSpec& s) { return s.name == key; });
    if (spec == entry->options.end() || key.size() == word.size()) {
      return config_error("codec " + name + " has no option \"" + key +
                          "\", or no value for it: \"" + text + "\" (expected NAME:key=value)");
    }
    SHOAL_ASSIGN(OptionValue value, parse_option(*spec, word.substr(key.size() + 1)));
    options.set(key, std::move(value));
  }
  return compress::make_codec(name, options);
}

}  // namespace

CodecInput normal_input(std::uint64_t elements) {
  auto rows = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
  while (elements % rows != 0) {
    --rows;
  }
  CodecInput input;
  input.shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(elements / rows)};
  input.values.resize(static_cast<std::size_t>(elements));
  Rng rng(kSeed, 0);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    input.values[i] = i < kDrawn ? static_cast<float>(rng.normal()) : input.values[i - kDrawn];
  }
  return input;
}

Result<CodecInput> read_input(const std::string& path) {
  constexpr const char* kRemedy = "; expected a float32 array: numpy.save(file, x.astype(\"<f4\"))";
  SHOAL_ASSIGN(const auto source, open_bytes(path));
  auto input = read_floats(*source);
  return input.ok() ? std::move(input) : about_file(path, input.error(), kRemedy);
}

compress::CodecContext CodecTrial::context() const {
  return {.run_seed = kSeed, .round = round, .sender = kSender, .state = state.get()};
}

Status CodecTrial::encode(std::span<const float> s, ByteWriter& out) const {
  return compress::encode_granules(*codec, *map, all(), s, context(), out);
}

Status CodecTrial::decode(ByteSpan bytes, std::span<float> acc) const {
  return compress::decode_granules(*codec, *map, all(), context(), bytes, 1, acc);
}

Status CodecTrial::advance(ByteSpan answer) {
  if (state) {
    SHOAL_TRY(state->advance(all(), context(), answer));
  }
  ++round;
  return {};
}

Result<CodecTrial> make_trial(const std::string& codec, const CodecInput& input) {
  CodecTrial trial;
  trial.name = codec;
  SHOAL_ASSIGN(trial.codec, codec_of(codec));
  Param param;
  param.name = "x";
  param.shape = input.shape;
  ParamMap map;
  SHOAL_TRY(map.add(std::move(param)));
  map.seal();
  trial.map = std::make_unique<const ParamMap>(std::move(map));
  trial.x.resize(static_cast<std::size_t>(trial.map->flat_size()));
  std::copy(input.values.begin(), input.values.end(), trial.x.begin());
  trial.state = trial.codec->make_state(*trial.map, kSeed);
  return trial;
}

std::vector<std::string> codec_variants() {
  std::vector<std::string> names;
  for (const auto& entry : compress::registry()) {
    names.push_back(entry.name);
    for (const OptionSpec& spec : entry.options) {
      for (const std::string& choice : spec.choices) {
        if (OptionValue(choice) != spec.default_value) {
          names.push_back(entry.name + ":" + spec.name + "=" + choice);
        }
      }
    }
  }
  return names;
}

}  // namespace shoal::node
