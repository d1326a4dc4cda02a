#include "compress/error_feedback.h"

#include <cmath>
#include <limits>

#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

ParamMap small_map() {
  ParamMap map;
  for (const std::int64_t elements : {4096, 5000, 10, 3}) {
    Param param;
    param.name = "p" + std::to_string(elements);
    param.shape = {elements};
    if (elements == 4096) {  // a matrix, for codecs that see one
      param.shape = {64, 64};
    }
    REQUIRE(map.add(std::move(param)).ok());
  }
  map.seal();
  return map;
}

Range all_of(const ParamMap& map) { return {0, map.granule_count()}; }

std::vector<std::byte> encoding(const Codec& codec, const ParamMap& map, std::span<const float> s,
                                const CodecContext& context = {}) {
  ByteWriter out;
  REQUIRE(encode_granules(codec, map, all_of(map), s, context, out).ok());
  return out.take();
}

}  // namespace

TEST_CASE("carry: a contribution is weighted and carries what is owed", "[carry]") {
  const ParamMap map = small_map();
  Carry carry(map);
  auto x = map_input(map, test_seed(81));
  std::vector<float> s(x.size(), 9.0F);
  carry.contribution(3, x, s);
  carry.settle_left_out(all_of(map), s, 3);
  std::vector<float> t(x.size(), 9.0F);
  carry.contribution(0.1, x, t);
  for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
    for (std::uint64_t i = g * kGranule; i < (g + 1) * kGranule; ++i) {
      const bool padding = i >= g * kGranule + map.granule_elements(g);
      const volatile float owed = 3.0F * x[i];
      const volatile float weighted = 0.1F * x[i];
      REQUIRE(bits_of(s[i]) == bits_of(padding ? 0.0F : owed + 0.0F));
      REQUIRE(bits_of(t[i]) == bits_of(padding ? 0.0F : weighted + owed));
    }
  }
}

TEST_CASE("carry: a residual that overflows does not come home", "[carry]") {
  const ParamMap map = small_map();
  Carry carry(map);
  std::vector<float> residual(kGranule, 2.0F);
  residual[1] = kFloatMax;
  carry.add({0, 1}, 3, residual);
  CHECK(carry.values()[0] == 6);
  CHECK(carry.values()[1] == 0);
}

TEST_CASE("carry: included leaves the decayed s - decode(encode(s)), left out leaves s",
          "[carry]") {
  const ParamMap map = small_map();
  const auto s = map_input(map, test_seed(82));
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    const auto state = v.codec->make_state(map, 1);
    const CodecContext context{.state = state.get()};
    Carry carry(map);
    const auto bytes = encoding(*v.codec, map, s, context);
    REQUIRE(carry.settle_included(*v.codec, context, all_of(map), s, 1, bytes).ok());
    std::vector<float> y(s.size());
    REQUIRE(decode_granules(*v.codec, map, all_of(map), context, bytes, 1, y).ok());
    const float decay = v.codec->properties().carry_decay;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const volatile float lost = s[i] - y[i];
      REQUIRE(bits_of(carry.values()[i]) == bits_of(decay * lost));
    }
    carry.settle_left_out(all_of(map), s, 1);
    CHECK(equal_bits(carry.values(), s));
    auto cut = bytes;
    cut.pop_back();
    CHECK_FALSE(carry.settle_included(*v.codec, context, all_of(map), s, 1, cut).ok());
    cut = bytes;
    cut.push_back(std::byte{0});
    CHECK_FALSE(carry.settle_included(*v.codec, context, all_of(map), s, 1, cut).ok());
  }
}

TEST_CASE("carry: settles part by part, weights with it", "[carry]") {
  const ParamMap map = small_map();
  REQUIRE(map.granule_count() == 4);
  const auto codec = std::move(make_codec("fp32", {})).value();
  const auto s = map_input(map, test_seed(83));
  Carry carry(map);
  CHECK(carry.weights(8, {0, 4}) == std::vector<WeightRun>{{{0, 4}, 8.0}});
  const auto part = std::span(s).subspan(kGranule, 2 * kGranule);
  carry.settle_left_out({1, 3}, part, 8);
  CHECK(carry.weights(5, {0, 4}) ==
        std::vector<WeightRun>{{{0, 1}, 5.0}, {{1, 3}, 13.0}, {{3, 4}, 5.0}});
  CHECK(carry.weights(5, {2, 2}).empty());
  CHECK(equal_bits(carry.values().subspan(kGranule, 2 * kGranule), part));
  CHECK(carry.values()[0] == 0);

  ByteWriter out;
  REQUIRE(encode_granules(*codec, map, {1, 2}, part, {}, out).ok());
  REQUIRE(carry.settle_included(*codec, {}, {1, 2}, part, 1, out.span()).ok());
  carry.settle_left_out({2, 3}, part.subspan(kGranule), 5);
  CHECK(carry.weights(1, {0, 4}) ==
        std::vector<WeightRun>{{{0, 2}, 1.0}, {{2, 3}, 14.0}, {{3, 4}, 1.0}});
  CHECK(carry.values()[kGranule] == 0);
}

TEST_CASE("carry: nothing is lost over the rounds", "[carry]") {
  const ParamMap map = small_map();
  const auto seed = test_seed(84);
  constexpr int kRounds = 30;
  for (const Variant& v : variants()) {
    if (v.codec->properties().carry_decay != 1) {
      continue;  // it is lost on purpose
    }
    CAPTURE(v.name);
    const auto state = v.codec->make_state(map, 1);
    const CodecContext context{.state = state.get()};
    Carry carry(map);
    std::vector<double> sent(carry.values().size());
    std::vector<double> given(sent.size());
    std::vector<double> allowed(sent.size());
    std::vector<float> s(sent.size());
    for (int round = 0; round < kRounds; ++round) {
      const auto x = map_input(map, seed + static_cast<std::uint64_t>(round));
      const std::vector<float> before(carry.values().begin(), carry.values().end());
      carry.contribution(2, x, s);
      const auto bytes = encoding(*v.codec, map, s, context);
      if (round % 5 == 2) {
        carry.settle_left_out(all_of(map), s, 2);
      } else {
        REQUIRE(carry.settle_included(*v.codec, context, all_of(map), s, 1, bytes).ok());
        std::vector<float> y(s.size());
        REQUIRE(decode_granules(*v.codec, map, all_of(map), context, bytes, 1, y).ok());
        std::transform(sent.begin(), sent.end(), y.begin(), sent.begin(), std::plus<>());
      }
      for (std::size_t i = 0; i < given.size(); ++i) {
        given[i] += 2.0 * x[i];
        // Two roundings a round (doubling is exact): of s and of s - y, each by at most 2^-24 of
        // its result.
        allowed[i] += (std::abs(s[i]) + std::abs(carry.values()[i])) * std::ldexp(1.0, -24);
      }
    }
    bool telescopes = true;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      // 1e-13: the test's own sums of 60 doubles below 1000.
      const double missing = sent[i] + static_cast<double>(carry.values()[i]) - given[i];
      telescopes = telescopes && std::abs(missing) <= allowed[i] + 1e-10;
    }
    CHECK(telescopes);
  }
}

TEST_CASE("carry: integers and fp32 balance to the bit", "[carry]") {
  const ParamMap map = small_map();
  const auto codec = std::move(make_codec("fp32", {})).value();
  Carry carry(map);
  Rng rng(test_seed(85), 0);
  std::vector<float> x(carry.values().size());
  std::vector<float> s(x.size());
  std::vector<float> sent(x.size());
  std::vector<float> given(x.size());
  for (int round = 0; round < 12; ++round) {
    for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
      for (std::uint32_t i = 0; i < map.granule_elements(g); ++i) {
        x[g * kGranule + i] = static_cast<float>(rng.below(100)) - 50;
      }
    }
    carry.contribution(3, x, s);
    if (rng.below(2) == 0) {
      carry.settle_left_out(all_of(map), s, 3);
    } else {
      const auto bytes = encoding(*codec, map, s);
      REQUIRE(carry.settle_included(*codec, {}, all_of(map), s, 1, bytes).ok());
      REQUIRE(decode_granules(*codec, map, all_of(map), {}, bytes, 1, sent).ok());
    }
    std::transform(given.begin(), given.end(), x.begin(), given.begin(),
                   [](float sum, float v) { return sum + 3 * v; });
  }
  std::transform(sent.begin(), sent.end(), carry.values().begin(), sent.begin(), std::plus<>());
  CHECK(sent == given);
}

TEST_CASE("carry: what is dropped is gone with its weight, the rest stays", "[carry]") {
  const ParamMap map = small_map();
  Carry carry(map);
  const std::vector<float> s(static_cast<std::size_t>(map.flat_size()), 3.0F);
  carry.settle_left_out(all_of(map), s, 7);
  carry.drop({0, 1});
  CHECK(carry.values()[0] == 0);
  CHECK(carry.values()[kGranule - 1] == 0);
  CHECK(carry.values()[kGranule] == 3);
  CHECK(carry.pending()[0] == 0);
  CHECK(carry.pending()[1] == 7);
}

TEST_CASE("carry: NaN and Inf never enter", "[carry]") {
  const ParamMap map = small_map();
  Carry carry(map);
  auto s = map_input(map, test_seed(86));
  const auto good = s;
  s[5] = std::numeric_limits<float>::quiet_NaN();
  s[kGranule] = std::numeric_limits<float>::infinity();
  carry.settle_left_out(all_of(map), s, 4);
  CHECK(first_not_finite(carry.values()) == carry.values().size());
  CHECK(carry.weights(0, {0, 4}) == std::vector<WeightRun>{{{0, 2}, 0.0}, {{2, 4}, 4.0}});
  CHECK(equal_bits(carry.values().subspan(2 * kGranule), std::span(good).subspan(2 * kGranule)));
}

namespace {

std::unique_ptr<Codec> dgc(double density, double momentum) {
  Options options;
  options.set("density", density);
  options.set("momentum", momentum);
  options.set("values", std::string("fp32"));
  return std::move(make_codec("dgc", options)).value();
}

/// A round in which the carry's owner is counted in; what was sent.
std::vector<float> sent_round(Carry& carry, const ParamMap& map, const Codec& codec,
                              std::span<const float> x) {
  std::vector<float> s(x.size());
  carry.use(codec);
  carry.contribution(1, x, s);
  const auto bytes = encoding(codec, map, s);
  REQUIRE(carry.settle_included(codec, {}, all_of(map), s, 1, bytes).ok());
  std::vector<float> y(x.size());
  REQUIRE(decode_granules(codec, map, all_of(map), {}, bytes, 1, y).ok());
  return y;
}

}  // namespace

TEST_CASE("carry: what momentum sends is what momentum SGD moved since the last time", "[carry]") {
  const ParamMap map = small_map();
  const auto codec = dgc(0.05, 0.5);
  Carry carry(map);
  Rng rng(test_seed(88), 0);
  const std::size_t n = carry.values().size();
  std::vector<float> x(n);
  std::vector<double> velocity(n);  // of momentum SGD, begun anew where its way was sent
  std::vector<double> way(n);
  std::size_t sent = 0;
  std::size_t waited = 0;
  for (int round = 0; round < 12; ++round) {
    for (std::uint64_t g = 0; g < map.granule_count(); ++g) {
      for (std::uint32_t i = 0; i < map.granule_elements(g); ++i) {
        // Integers: with a momentum of 1/2 all sums of 12 rounds are exact in fp32.
        x[g * kGranule + i] = static_cast<float>(rng.below(100)) - 50;
      }
    }
    const auto y = sent_round(carry, map, *codec, x);
    for (std::size_t i = 0; i < n; ++i) {
      velocity[i] = 0.5 * velocity[i] + x[i];
      way[i] += velocity[i];
      if (y[i] != 0) {
        REQUIRE(y[i] == way[i]);
        way[i] = 0;
        if (!map.granule_packed(i / kGranule)) {  // else fp32 sends it all, which is momentum SGD
          velocity[i] = 0;
        }
        ++sent;
      }
      REQUIRE(carry.velocity()[i] == velocity[i]);
      REQUIRE(carry.values()[i] == way[i]);
      waited += way[i] != 0 ? 1 : 0;
    }
  }
  CHECK(sent > 1000);
  CHECK(waited > 1000);
}

TEST_CASE("carry: left out, momentum goes on; without x it stands still", "[carry]") {
  const ParamMap map = small_map();
  const auto codec = dgc(1, 0.5);
  Carry carry(map);
  carry.use(*codec);
  const auto x = std::vector<float>(carry.values().size(), 8.0F);
  std::vector<float> s(x.size());
  carry.contribution(1, x, s);
  carry.settle_left_out(all_of(map), s, 1);
  CHECK(carry.velocity()[0] == 8);
  CHECK(carry.values()[0] == 8);
  carry.contribution(1, x, s);
  carry.settle_left_out(all_of(map), s, 1);
  CHECK(carry.velocity()[0] == 12);
  CHECK(carry.values()[0] == 20);
  // Only what is pending is sent, and of it nothing but the first granule.
  const std::vector<float> owed(carry.values().begin(), carry.values().begin() + kGranule);
  ByteWriter out;
  REQUIRE(encode_granules(*codec, map, {0, 1}, owed, {}, out).ok());
  REQUIRE(carry.settle_included(*codec, {}, {0, 1}, owed, 0, out.span()).ok());
  CHECK(carry.values()[0] == 0);
  CHECK(carry.velocity()[0] == 0);
  carry.settle_left_out({1, 2}, std::span<const float>(carry.values()).subspan(kGranule), 0);
  CHECK(carry.velocity()[kGranule] == 12);
}

TEST_CASE("carry: a codec without momentum drops the velocity, not what is owed", "[carry]") {
  const ParamMap map = small_map();
  const auto codec = dgc(0.001, 0.9);
  Carry carry(map);
  CHECK(carry.velocity().empty());
  static_cast<void>(sent_round(carry, map, *codec, map_input(map, test_seed(89))));
  REQUIRE(carry.velocity().size() == carry.values().size());
  const std::vector<float> owed(carry.values().begin(), carry.values().end());

  ByteWriter out;
  carry.save(out);
  Carry loaded(map);
  ByteReader in(out.span());
  REQUIRE(loaded.load(in).ok());
  CHECK(in.left() == 0);
  CHECK(equal_bits(loaded.velocity(), carry.velocity()));
  const auto x = map_input(map, test_seed(90));
  CHECK(equal_bits(sent_round(loaded, map, *codec, x), sent_round(carry, map, *codec, x)));
  auto bytes = std::vector<std::byte>(out.span().begin(), out.span().end());
  bytes.back() = std::byte{0x7f};  // exponent of the last velocity: all ones
  bytes[bytes.size() - 2] |= std::byte{0x80};
  ByteReader bad(bytes);
  CHECK_FALSE(loaded.load(bad).ok());

  ByteReader again(out.span());
  REQUIRE(carry.load(again).ok());
  carry.use(*codec_by_wire_id(1));
  CHECK(carry.velocity().empty());
  CHECK(equal_bits(carry.values(), owed));
}

TEST_CASE("carry: saved and loaded whole, or refused", "[carry]") {
  const ParamMap map = small_map();
  Carry carry(map);
  carry.settle_left_out(all_of(map), map_input(map, test_seed(87)), 7.5);
  ByteWriter out;
  carry.save(out);
  Carry loaded(map);
  ByteReader in(out.span());
  REQUIRE(loaded.load(in).ok());
  CHECK(in.left() == 0);
  CHECK(equal_bits(loaded.values(), carry.values()));
  CHECK(loaded.weights(0, {0, 4}) == carry.weights(0, {0, 4}));

  const auto refused = [&](std::vector<std::byte> bytes) {
    ByteReader reader(bytes);
    const Status status = loaded.load(reader);
    return !status.ok() && status.error().code == Code::kData &&
           equal_bits(loaded.values(), carry.values());
  };
  const std::vector<std::byte> bytes(out.span().begin(), out.span().end());
  CHECK(refused({bytes.begin(), bytes.end() - 1}));
  auto other = bytes;
  other[0] ^= std::byte{1};
  CHECK(refused(other));
  other = bytes;
  other[11] = std::byte{0x7f};  // exponent of the first value: all ones
  other[10] |= std::byte{0x80};
  CHECK(refused(other));
  other = bytes;
  other[other.size() - 9] |= std::byte{0x80};  // sign of the last pending weight
  CHECK(refused(other));
}
