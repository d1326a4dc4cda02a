#include "tests/compress/inputs.h"

#include <algorithm>
#include <limits>

#include "compress/lane.h"
#include "tests/support/catch.h"

namespace shoal::compress::tests {
namespace {

Variant make_variant(const CodecEntry& entry, const std::string& key, const OptionValue& value) {
  Options options;
  options.set(key, value);
  auto codec = make_codec(entry.name, options);
  REQUIRE(codec.ok());
  return {entry.name + " " + key + "=" + option_text(value), std::move(codec).value()};
}

OptionValue number(const OptionSpec& spec, double value) {
  return spec.type == OptionType::kInt ? OptionValue(static_cast<std::int64_t>(value))
                                       : OptionValue(value);
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const CodecEntry& entry : registry()) {
    all.push_back({entry.name, entry.make(Options::defaults(entry.options))});
    for (const OptionSpec& spec : entry.options) {
      if (spec.type == OptionType::kInt || spec.type == OptionType::kFloat) {
        all.push_back(make_variant(entry, spec.name, number(spec, spec.minimum.value())));
        all.push_back(make_variant(entry, spec.name, number(spec, spec.maximum.value())));
      }
      for (const std::string& choice : spec.choices) {
        all.push_back(make_variant(entry, spec.name, choice));
      }
    }
  }
  return all;
}

Sample tensor_sample(const Codec& codec, std::int64_t rows, std::int64_t cols, int answers) {
  ParamMap map;
  Param param;
  param.name = "matrix";
  param.shape = {rows, cols};
  REQUIRE(map.add(std::move(param)).ok());
  map.seal();
  Sample sample{.elements = static_cast<std::size_t>(rows * cols),
                .rows = static_cast<std::size_t>(rows),
                .map = std::make_shared<const ParamMap>(std::move(map))};
  auto state = codec.make_state(*sample.map, 2024);
  sample.context = {.run_seed = 2024, .round = 1, .rows = sample.rows, .state = state.get()};
  Rng rng(2024, sample.elements);
  std::vector<float> x(sample.elements);
  for (int i = 0; state != nullptr && i < answers; ++i) {
    for (float& v : x) {  // the same on every machine, unlike normal values
      v = static_cast<float>(rng.below(2001)) - 1000;
    }
    const auto answer = encoded(codec, x, sample.context);
    REQUIRE(state->advance({0, sample.map->granule_count()}, sample.context, answer).ok());
    ++sample.context.round;
  }
  sample.state = std::move(state);
  return sample;
}

std::vector<Sample> samples(const Codec& codec, const std::vector<std::size_t>& sizes) {
  std::vector<Sample> all;
  if (!codec.properties().whole_tensor) {
    for (const std::size_t n : sizes) {
      all.push_back({.elements = n});
    }
    return all;
  }
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{
      {64, 64}, {5, 1000}, {1, 4096}, {4096, 1}, {300, 40}, {2, 2053}, {61, 71}};
  for (const auto& [rows, cols] : shapes) {
    for (const int answers : {0, 1}) {
      all.push_back(tensor_sample(codec, rows, cols, answers));
    }
  }
  return all;
}

std::vector<float> normal_input(std::size_t elements, std::uint64_t seed) {
  Rng rng(seed, elements);
  std::vector<float> x(elements);
  std::generate(x.begin(), x.end(), [&] { return static_cast<float>(rng.normal()); });
  return x;
}

std::vector<Input> inputs(std::size_t elements, std::uint64_t seed) {
  const auto fill = [&](std::string name, auto&& draw) {
    Rng rng(mix(seed, elements), 1);
    std::vector<float> x(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      x[i] = draw(rng, i);
    }
    return Input{std::move(name), std::move(x)};
  };
  const auto sign = [](Rng& rng) { return rng.below(2) == 0 ? 1.0F : -1.0F; };
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  std::vector<Input> all;
  all.push_back({"normal", normal_input(elements, seed)});
  all.push_back(fill("zeros", [](Rng&, std::size_t) { return 0.0F; }));
  all.push_back(fill("minus zeros", [](Rng&, std::size_t) { return -0.0F; }));
  all.push_back(
      fill("smallest denormals", [&](Rng& rng, std::size_t) { return sign(rng) * kTiny; }));
  all.push_back(fill("denormals", [&](Rng& rng, std::size_t) {
    return sign(rng) * float_of(static_cast<std::uint32_t>(rng.below(1 << 23)));
  }));
  all.push_back(fill("few ulps", [&](Rng& rng, std::size_t) {
    return sign(rng) * float_of(static_cast<std::uint32_t>(rng.below(400)));
  }));
  all.push_back(fill("largest", [&](Rng& rng, std::size_t) { return sign(rng) * kFloatMax; }));
  all.push_back(fill("huge", [&](Rng& rng, std::size_t) {
    return sign(rng) * kFloatMax * static_cast<float>(rng.uniform());
  }));
  all.push_back(fill("all equal", [](Rng&, std::size_t) { return -0.37F; }));
  all.push_back(fill("two magnitudes",
                     [](Rng& rng, std::size_t) { return rng.below(3) == 0 ? 2.0F : -1.0F; }));
  all.push_back(
      fill("one alone", [&](Rng&, std::size_t i) { return i == elements / 2 ? 3.0F : 0.0F; }));
  all.push_back(fill("one above dust", [&](Rng& rng, std::size_t i) {
    return i == elements / 2 ? 1e30F : sign(rng) * 1e-30F;
  }));
  all.push_back(fill("any finite bits", [](Rng& rng, std::size_t) {
    const std::uint32_t bits = rng.next_u32();
    return is_finite(float_of(bits)) ? float_of(bits) : 0.0F;
  }));
  all.push_back(fill("ramp", [](Rng&, std::size_t i) { return static_cast<float>(i); }));
  return all;
}

std::vector<Input> inputs(const Codec& codec, const Sample& sample, std::uint64_t seed) {
  auto all = inputs(sample.elements, seed);
  if (codec.properties().whole_tensor) {
    std::erase_if(all, [](const Input& input) {
      return std::any_of(input.x.begin(), input.x.end(),
                         [](float v) { return abs_bits(v) > bits_of(1e31F); });
    });
  }
  return all;
}

ParamMap big_map() {
  ParamMap map;
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{
      {"a.weight", {784, 1024}},
      {"a.bias", {1024}},
      {"b.weight", {4096}},
      {"b.bias", {3}},
      {"c.weight", {191000}},
      {"c.bias", {4095}},
      {"d", {1}}};
  for (const auto& [name, shape] : shapes) {
    Param param;
    param.name = name;
    param.shape = shape;
    REQUIRE(map.add(std::move(param)).ok());
  }
  map.seal();
  return map;
}

std::vector<float> map_input(const ParamMap& map, std::uint64_t seed) {
  // Normal values take long to draw: a stretch of them, scaled differently in each granule.
  const std::vector<float> stretch = normal_input(3 * kGranule + 1, seed);
  std::vector<float> x(static_cast<std::size_t>(map.flat_size()));
  for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
    for (std::uint32_t i = 0; i < map.granule_elements(g); ++i) {
      const auto at = static_cast<std::size_t>(g * kGranule + i);
      x[at] = stretch[at % stretch.size()] * static_cast<float>(1 + g % 7);
    }
  }
  return x;
}

std::vector<std::byte> encoded(const Codec& codec, std::span<const float> x, CodecContext context) {
  ByteWriter out;
  const Status status = codec.encode(x, context, out);
  INFO((status.ok() ? std::string() : status.error().message));
  REQUIRE(status.ok());
  return out.take();
}

std::vector<float> decoded(const Codec& codec, ByteSpan bytes, std::size_t elements,
                           CodecContext context) {
  std::vector<float> acc(elements, -0.0F);  // -0 + x is x, for x = -0 too
  ByteReader in(bytes);
  const Status status = codec.decode_add(in, context, 1, acc);
  INFO((status.ok() ? std::string() : status.error().message));
  REQUIRE(status.ok());
  REQUIRE(in.left() == 0);
  return acc;
}

bool equal_bits(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return bits_of(x) == bits_of(y); });
}

}  // namespace shoal::compress::tests
