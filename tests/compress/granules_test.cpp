#include <cmath>
#include <limits>

#include "compress/error_feedback.h"
#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::vector<std::byte> encoded_granules(const Codec& codec, const ParamMap& map, Range granules,
                                        std::span<const float> flat, const State* state = nullptr) {
  ByteWriter out;
  const auto part = flat.subspan(static_cast<std::size_t>(granules.begin * kGranule),
                                 static_cast<std::size_t>(granules.size() * kGranule));
  const CodecContext context{.run_seed = 1, .round = 2, .state = state};
  REQUIRE(encode_granules(codec, map, granules, part, context, out).ok());
  return out.take();
}

ParamMap map_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  ParamMap map;
  for (const auto& shape : shapes) {
    Param param;
    param.name = "p" + std::to_string(map.params().size());
    param.shape = shape;
    REQUIRE(map.add(std::move(param)).ok());
  }
  map.seal();
  return map;
}

double norm_of(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) {
    sum += v * v;
  }
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("granules: tensors around a granule's and a million's size, and none at all", "[codec]") {
  const auto seed = test_seed(24);
  const std::vector<std::vector<std::int64_t>> shapes{{4095},   {4096},    {4097},     {1'000'003},
                                                      {64, 64}, {17, 241}, {1001, 999}};
  for (const auto& shape : shapes) {
    const ParamMap map = map_of({shape});
    const Range all{0, map.granule_count()};
    const auto x = map_input(map, seed);
    for (const Variant& v : variants()) {
      CAPTURE(v.name, shape);
      const auto state = v.codec->make_state(map, 1);
      const CodecContext context{.run_seed = 1, .round = 2, .state = state.get()};
      const auto bytes = encoded_granules(*v.codec, map, all, x, state.get());
      CHECK(bytes.size() <= granules_bytes_max(*v.codec, map, all));
      std::vector<float> y(x.size());
      REQUIRE(decode_granules(*v.codec, map, all, context, bytes, 1, y).ok());
      CHECK(first_not_finite(y) == y.size());
      CHECK((equal_bits(x, y) || !v.codec->properties().lossless));
      CHECK((state == nullptr || state->advance(all, context, bytes).ok()));
    }
  }
  const ParamMap map = map_of({{4097}});
  const ParamMap empty = map_of({});
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    for (const auto& [where, range] :
         {std::pair{&map, Range{0, 0}}, {&map, Range{2, 2}}, {&empty, Range{0, 0}}}) {
      const auto state = v.codec->make_state(*where, 1);
      ByteWriter out;
      CHECK(encode_granules(*v.codec, *where, range, {}, {.state = state.get()}, out).ok());
      CHECK(out.size() == 0);
      CHECK(granules_bytes_max(*v.codec, *where, range) == 0);
      CHECK(decode_granules(*v.codec, *where, range, {.state = state.get()}, {}, 1, {}).ok());
      const std::vector<std::byte> one(1);
      CHECK_FALSE(
          decode_granules(*v.codec, *where, range, {.state = state.get()}, one, 1, {}).ok());
    }
  }
}

TEST_CASE("granules: what is sent and what is owed make up what was given", "[codec]") {
  const auto seed = test_seed(25);
  constexpr int kRounds = 30;
  const ParamMap map = map_of({{80, 60}, {5000}, {17, 300}, {10}});
  const Range all{0, map.granule_count()};
  for (const Variant& v : variants()) {
    if (v.codec->properties().momentum != 0 || v.codec->properties().carry_decay != 1) {
      continue;  // its carry is no plain sum
    }
    CAPTURE(v.name);
    auto state = v.codec->make_state(map, 1);
    Carry carry(map);
    carry.use(*v.codec);
    std::vector<double> missing(carry.values().size());
    std::vector<double> given(missing.size());
    double largest = 0;  // norm of an s
    std::vector<float> s(missing.size());
    std::vector<float> y(missing.size());
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const CodecContext context{
          .run_seed = seed, .round = round, .sender = 3, .state = state.get()};
      const auto x = map_input(map, seed + round);
      carry.contribution(1, x, s);
      largest = std::max(largest, norm_of(std::vector<double>(s.begin(), s.end())));
      ByteWriter out;
      REQUIRE(encode_granules(*v.codec, map, all, s, context, out).ok());
      std::fill(y.begin(), y.end(), 0.0F);
      REQUIRE(decode_granules(*v.codec, map, all, context, out.span(), 1, y).ok());
      REQUIRE(carry.settle_included(*v.codec, context, all, s, 1, out.span()).ok());
      CHECK((state == nullptr || state->advance(all, context, out.span()).ok()));
      for (std::size_t i = 0; i < s.size(); ++i) {
        given[i] += x[i];
        missing[i] += static_cast<double>(y[i]) - x[i];
      }
    }
    std::transform(missing.begin(), missing.end(), carry.values().begin(), missing.begin(),
                   std::plus<>());
    // Two roundings a round, each of about 2^-25 of s. They scatter: sqrt(60) * 2^-25 is 2.3e-7. An
    // s may grow past all that was given where a codec does not contract.
    CHECK(norm_of(missing) <= 1e-6 * std::max(norm_of(given), largest));
  }
}

TEST_CASE("granules: bytes do not depend on how the space is cut", "[codec]") {
  const ParamMap map = big_map();
  REQUIRE(map.parameter_count() > 1'000'000);
  const auto x = map_input(map, test_seed(21));
  const std::uint64_t end = map.granule_count();
  Rng rng(test_seed(22), 0);
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    const auto state = v.codec->make_state(map, 1);
    const auto whole = encoded_granules(*v.codec, map, {0, end}, x, state.get());
    CHECK(whole.size() <= granules_bytes_max(*v.codec, map, {0, end}));
    std::vector<std::byte> joined;
    for (std::uint64_t at = 0; at < end;) {
      std::uint64_t next = std::min(end, at + 1 + rng.below(60));
      while (!may_cut(*v.codec, map, next)) {
        ++next;
      }
      const auto part = encoded_granules(*v.codec, map, {at, next}, x, state.get());
      joined.insert(joined.end(), part.begin(), part.end());
      at = next;
    }
    CHECK((joined == whole));

    std::vector<float> acc(x.size());
    const CodecContext context{.state = state.get()};
    REQUIRE(decode_granules(*v.codec, map, {0, end}, context, whole, 1, acc).ok());
    for (std::uint64_t g = 0; g < end; ++g) {
      const auto begin = static_cast<std::size_t>(g * kGranule);
      const auto elements = map.granule_elements(g);
      const auto padding = std::span(acc).subspan(begin, kGranule).subspan(elements);
      REQUIRE(std::all_of(padding.begin(), padding.end(), [](float p) { return p == 0; }));
      if (map.granule_packed(g)) {  // small tensors are never lossy
        REQUIRE(equal_bits(std::span(acc).subspan(begin, elements),
                           std::span(x).subspan(begin, elements)));
      }
    }
  }
}

TEST_CASE("granules: NaN and Inf are refused with the parameter's name", "[codec]") {
  const ParamMap map = big_map();
  const auto codec = std::move(make_codec("int8", {})).value();
  struct Place {
    const char* parameter;
    std::uint64_t element;
  };
  for (const Place place : {Place{"a.weight", 802'815}, Place{"b.weight", 0},
                            Place{"c.weight", 190'999}, Place{"b.bias", 2}, Place{"d", 0}}) {
    auto x = map_input(map, 1);
    x[static_cast<std::size_t>(map.find(place.parameter)->offset + place.element)] =
        std::numeric_limits<float>::infinity();
    ByteWriter out;
    const Status status = encode_granules(*codec, map, {0, map.granule_count()}, x, {}, out);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == Code::kData);
    const std::string name =
        std::string(place.parameter) + "[" + std::to_string(place.element) + "]";
    CAPTURE(status.error().message, name);
    CHECK(status.error().message.find(name) != std::string::npos);
  }
}

TEST_CASE("granules: bytes left over or missing are refused", "[codec]") {
  const ParamMap map = big_map();
  const auto x = map_input(map, 3);
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    Range part{190, 194};
    part.begin = may_cut(*v.codec, map, part.begin) ? part.begin : 0;  // the first tensor
    part.end = may_cut(*v.codec, map, part.end) ? part.end : 196;
    const auto state = v.codec->make_state(map, 1);
    const CodecContext context{.state = state.get()};
    auto bytes = encoded_granules(*v.codec, map, part, x, state.get());
    std::vector<float> acc(static_cast<std::size_t>(part.size() * kGranule));
    CHECK(decode_granules(*v.codec, map, part, context, bytes, 1, acc).ok());
    bytes.push_back(std::byte{0});
    const Status longer = decode_granules(*v.codec, map, part, context, bytes, 1, acc);
    REQUIRE_FALSE(longer.ok());
    CHECK(longer.error().code == Code::kBadFrame);
    bytes.resize(bytes.size() - 2);
    CHECK_FALSE(decode_granules(*v.codec, map, part, context, bytes, 1, acc).ok());
    CHECK_FALSE(decode_granules(*v.codec, map, part, context, {}, 1, acc).ok());
    if (v.codec->properties().whole_tensor) {
      CHECK_FALSE(decode_granules(*v.codec, map, {0, 190}, context, bytes, 1, acc).ok());
    }
  }
}

TEST_CASE("granules: the bytes that were promised", "[codec]") {
  // Whole encodings, packed fp32 granules included, against 4 bytes a parameter.
  ParamMap map;
  for (const std::int64_t layer : {784 * 256, 256, 256 * 128, 128, 128 * 10, 10}) {
    Param param;
    param.name = "p" + std::to_string(map.params().size());
    param.shape = {layer};
    REQUIRE(map.add(std::move(param)).ok());
  }
  map.seal();
  const auto x = map_input(map, test_seed(23));
  const auto share = [&](std::string_view name) {
    const auto codec = std::move(make_codec(name, {})).value();
    const auto bytes = encoded_granules(*codec, map, {0, map.granule_count()}, x).size();
    return static_cast<double>(bytes) / (4.0 * static_cast<double>(map.parameter_count()));
  };
  CHECK(share("fp32") == 1);
  CHECK(share("int8") <= 0.27);
  CHECK(share("topk") <= 0.02);
}
