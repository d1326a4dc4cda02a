#include "tests/golden/codec_vectors.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ops/base/hash.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace shoal::compress::tests {
namespace {

std::string hex_of(std::span<const float> x) { return to_hex(std::as_bytes(x)); }

template <typename T>
bool from_hex_line(const std::string& text, std::vector<T>& out) {
  out.resize(text.size() / (2 * sizeof(T)));
  return text.size() == out.size() * 2 * sizeof(T) &&
         from_hex(text, std::as_writable_bytes(std::span(out)));
}

/// Ten random bits and a random power of two: spread over magnitudes.
std::vector<float> spread_input(std::size_t elements) {
  Rng rng(2024, elements);
  std::vector<float> x(elements);
  for (float& v : x) {
    const auto fraction = static_cast<float>(rng.below(2047)) - 1023;
    v = fraction / static_cast<float>(std::uint64_t{1} << rng.below(16));
  }
  return x;
}

void append_case(const CodecEntry& entry, const std::string& name,
                 const std::vector<std::pair<std::string, std::string>>& options,
                 std::span<const float> x, std::string& out) {
  const CodecVector vector{name, options, {}, {}, {}, {}, {}};
  const auto codec = codec_of(entry, vector);
  REQUIRE(codec.ok());
  const auto bytes = encoded(**codec, x);
  out += "case " + name + "\n";
  for (const auto& [key, value] : options) {
    out += "option " + key + " " + value + "\n";
  }
  out += "x " + hex_of(x) + "\nbytes " + to_hex(bytes) + "\ny ";
  out += hex_of(decoded(**codec, bytes, x.size())) + "\n";
}

/// Whole tensors: each shape on both sides of the basis, and the options' limits.
std::string tensor_text(const CodecEntry& entry) {
  std::string out;
  const auto append = [&](std::vector<std::pair<std::string, std::string>> options,
                          std::int64_t rows, std::int64_t cols) {
    for (const std::int64_t answers : {0, 1}) {
      CodecVector v{"", std::move(options), {rows, cols, answers}, {}, {}, {}, {}};
      const auto codec = codec_of(entry, v);
      REQUIRE(codec.ok());
      const Sample sample = sample_of(**codec, v);
      const auto bytes = encoded(**codec, spread_input(sample.elements), sample.context);
      const auto y = decoded(**codec, bytes, sample.elements, sample.context);
      const std::string numbers =
          std::to_string(rows) + " " + std::to_string(cols) + " " + std::to_string(answers);
      out += "case tensor " + numbers + "\n";
      for (const auto& [key, value] : v.options) {
        out += "option " + key + " " + value + "\n";
      }
      out += "tensor " + numbers + "\nbytes " + to_hex(bytes) + "\nhash ";
      out += to_hex(hash_of(std::as_bytes(std::span(y))).span()) + "\n";
      options = std::move(v.options);
    }
  };
  append({}, 64, 64);
  append({}, 8, 512);
  append({}, 129, 32);
  for (const OptionSpec& spec : entry.options) {
    append({{spec.name, std::to_string(static_cast<int>(*spec.minimum))}}, 64, 64);
    append({{spec.name, std::to_string(static_cast<int>(*spec.maximum))}}, 64, 64);
  }
  return out;
}

}  // namespace

Sample sample_of(const Codec& codec, const CodecVector& vector) {
  return vector.tensor.empty() ? Sample{.elements = vector.x.size()}
                               : tensor_sample(codec, vector.tensor[0], vector.tensor[1],
                                               static_cast<int>(vector.tensor[2]));
}

std::string golden_path(const CodecEntry& entry) {
  return shoal::tests::source_path("tests/golden/" + entry.name + ".txt");
}

Result<std::unique_ptr<Codec>> codec_of(const CodecEntry& entry, const CodecVector& vector) {
  Options options;
  for (const auto& [key, text] : vector.options) {
    const auto spec = std::find_if(entry.options.begin(), entry.options.end(),
                                   [&key = key](const OptionSpec& s) { return s.name == key; });
    if (spec == entry.options.end()) {
      return config_error("codec " + entry.name + " has no option " + key);
    }
    SHOAL_ASSIGN(OptionValue value, parse_option(*spec, text));
    options.set(key, std::move(value));
  }
  return make_codec(entry.name, options);
}

std::string golden_text(const CodecEntry& entry) {
  const auto codec = entry.make(Options::defaults(entry.options));
  std::string out = "wire_id " + std::to_string(codec->properties().wire_id) + "\n";
  if (codec->properties().whole_tensor) {
    return out + tensor_text(entry);
  }
  for (const std::size_t n : {std::size_t{1}, std::size_t{37}}) {
    for (const Input& input : inputs(n, 2024)) {
      append_case(entry, input.name + " " + std::to_string(n), {}, input.x, out);
    }
  }
  append_case(entry, "spread 1024", {}, spread_input(1024), out);
  for (const OptionSpec& spec : entry.options) {
    std::vector<std::string> values = spec.choices;
    if (spec.type == OptionType::kInt) {
      values = {std::to_string(static_cast<int>(*spec.minimum)),
                std::to_string(static_cast<int>(*spec.maximum))};
    } else if (spec.type == OptionType::kFloat) {
      values = {"0.1", "1"};
    }
    for (const std::string& value : values) {
      for (const Input& input : inputs(37, 2024)) {
        append_case(entry, input.name + " 37", {{spec.name, value}}, input.x, out);
      }
    }
  }
  return out;
}

Result<std::vector<CodecVector>> read_golden(const CodecEntry& entry) {
  const std::string path = golden_path(entry);
  std::ifstream file(path);
  const auto codec = entry.make(Options::defaults(entry.options));
  const std::string wire_id = std::to_string(codec->properties().wire_id);
  std::vector<CodecVector> vectors;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    const std::string rest = line.substr(std::min(line.size(), key.size() + 1));
    bool good = !vectors.empty();
    if (key == "wire_id") {
      good = rest == wire_id;
    } else if (key == "case") {
      vectors.push_back({rest, {}, {}, {}, {}, {}, {}});
      good = true;
    } else if (good && key == "option") {
      auto& option = vectors.back().options.emplace_back();
      words >> option.first >> option.second;
    } else if (good && key == "tensor") {
      vectors.back().tensor.resize(3);
      for (auto& number_of : vectors.back().tensor) {
        words >> number_of;
      }
      good = !words.fail();
      vectors.back().x = spread_input(
          good ? static_cast<std::size_t>(vectors.back().tensor[0] * vectors.back().tensor[1]) : 0);
    } else if (good && key == "hash") {
      vectors.back().hash = rest;
    } else if (good && key == "x") {
      good = from_hex_line(rest, vectors.back().x);
    } else if (good && key == "bytes") {
      good = from_hex_line(rest, vectors.back().bytes);
    } else if (good && key == "y") {
      good = from_hex_line(rest, vectors.back().y);
    } else {
      good = false;
    }
    if (!good) {
      return data_error(path + ":" + std::to_string(number) + ": not a golden vector");
    }
  }
  if (vectors.empty()) {
    return data_error(path + ": no golden vectors; write them with the target golden_write");
  }
  return vectors;
}

}  // namespace shoal::compress::tests
