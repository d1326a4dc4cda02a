// Holds every entry of the registry to the codec contract and to what it declares.
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t n = 1; n <= 257; ++n) {
    all.push_back(n);
  }
  all.insert(all.end(), {1000, 4095, 4096});
  return all;
}

const std::vector<std::size_t> kFewSizes{1, 2, 15, 64, 100, 257, 1000, 4096};

double square_norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) {
    sum += static_cast<double>(v) * v;
  }
  return sum;
}

}  // namespace

TEST_CASE("registry: names and wire ids are unique and in order", "[codec]") {
  std::set<std::string> names;
  int last = 0;
  for (const CodecEntry& entry : registry()) {
    const auto codec = entry.make(Options::defaults(entry.options));
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.help.empty());
    CHECK(codec->properties().wire_id > last);
    last = codec->properties().wire_id;
    CHECK(codec_by_wire_id(codec->properties().wire_id) != nullptr);
  }
  CHECK(names.size() >= 4);
  CHECK(codec_by_wire_id(0) == nullptr);
  CHECK(codec_by_wire_id(255) == nullptr);
}

TEST_CASE("registry: a wrong name or option is refused in words", "[codec]") {
  const auto wrong = make_codec("int9", {});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().code == Code::kConfig);
  CHECK(wrong.error().message.find("\"int8\"") != std::string::npos);
  Options foreign;
  foreign.set("density", 0.5);
  const auto unknown = make_codec("int8", foreign);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("density") != std::string::npos);
  Options high;
  high.set("density", 1.5);
  CHECK_FALSE(make_codec("topk", high).ok());
}

TEST_CASE("codecs: every size round-trips within its bound, for any decoder", "[codec]") {
  const auto seed = test_seed(11);
  for (const Variant& v : variants()) {
    const Codec* decoder = codec_by_wire_id(v.codec->properties().wire_id);
    for (const Sample& s : samples(*v.codec, sizes())) {
      const std::size_t n = s.elements;
      CAPTURE(v.name, n, s.rows);
      const auto x = normal_input(n, seed);
      auto bytes = encoded(*v.codec, x, s.context);
      CHECK(bytes.size() <= v.codec->bytes_max(n, s.rows));
      const auto y = decoded(*decoder, bytes, n, s.context);
      CHECK(first_not_finite(y) == n);
      bytes.push_back(std::byte{0xff});  // an encoding says its own length
      ByteReader in(bytes);
      std::vector<float> acc(n);
      CHECK(decoder->decode_add(in, s.context, 1, acc).ok());
      CHECK(in.left() == 1);
    }
  }
}

TEST_CASE("codecs: hard inputs stay finite, within bounds and contract as declared", "[codec]") {
  const auto seed = test_seed(12);
  for (const Variant& v : variants()) {
    const Properties& p = v.codec->properties();
    for (const Sample& s : samples(*v.codec, kFewSizes)) {
      const std::size_t n = s.elements;
      for (const Input& input : inputs(*v.codec, s, seed)) {
        CAPTURE(v.name, n, s.rows, input.name);
        const auto bytes = encoded(*v.codec, input.x, s.context);
        CHECK(bytes.size() <= v.codec->bytes_max(n, s.rows));
        const auto y = decoded(*v.codec, bytes, n, s.context);
        REQUIRE(first_not_finite(y) == n);
        double error = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double d = static_cast<double>(y[i]) - input.x[i];
          error += d * d;
        }
        if (p.lossless) {
          CHECK(equal_bits(y, input.x));
        }
        if (p.contraction > 0) {
          // 1e-12: sums of 4096 squares in double are off by less than 4096 * 2^-53.
          CHECK(error <= (1 - p.contraction) * square_norm(input.x) * (1 + 1e-12));
        }
        if (p.whole_tensor) {
          // A projection makes nothing longer. 1e-4: sums of up to 4096 products in 16 partial ones
          // are off by less than 256 * 2^-24, and products of denormals by a denormal each.
          const double slack = static_cast<double>(n) * std::numeric_limits<float>::denorm_min();
          CHECK(std::sqrt(square_norm(y)) <=
                std::sqrt(square_norm(input.x)) * (1 + 1e-4) + 32 * slack);
          continue;
        }
        // Nothing may be made larger than twice the largest value, or than the norm where random
        // choices make up for it, or where what decays in a carry is sent in another basis.
        const auto larger = [](float a, float b) { return abs_bits(a) < abs_bits(b); };
        const double max = std::abs(*std::max_element(input.x.begin(), input.x.end(), larger));
        const bool by_norm = p.unbiased || p.carry_decay != 1;
        const double norm = by_norm ? std::sqrt(square_norm(input.x)) * (1 + 1e-4) + 0x1p-149 : 0;
        CHECK(std::abs(*std::max_element(y.begin(), y.end(), larger)) <= std::max(2 * max, norm));
      }
    }
  }
}

TEST_CASE("codecs: bytes follow from values, seed, round and granule alone", "[codec]") {
  const auto seed = test_seed(13);
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    const Sample s = samples(*v.codec, {kGranule}).front();
    const auto x = normal_input(s.elements, seed);
    CodecContext here = s.context;
    here.run_seed = 1;
    here.round = 2;
    here.granule = s.map ? 0 : 3;
    const auto bytes = encoded(*v.codec, x, here);
    CHECK(encoded(*v.codec, x, here) == bytes);
    if (v.codec->properties().deterministic) {
      CodecContext there = here;
      there.run_seed = 4;
      there.round = 5;
      there.granule = 2 * here.granule;
      CHECK(encoded(*v.codec, x, there) == bytes);
    }
  }
}

TEST_CASE("codecs: what is declared unbiased is, over the rounds", "[codec]") {
  const auto seed = test_seed(14);
  constexpr int kRounds = 20'000;
  int declared = 0;
  for (const Variant& v : variants()) {
    if (!v.codec->properties().unbiased) {
      continue;
    }
    CAPTURE(v.name);
    ++declared;
    const Sample s = samples(*v.codec, {64}).front();
    const auto x = normal_input(s.elements, seed);
    std::vector<double> sum(x.size());
    std::vector<double> squares(x.size());
    double least = 0;  // error
    double most = 0;
    CodecContext context = s.context;
    context.run_seed = seed;
    for (context.round = 0; context.round < kRounds; ++context.round) {
      const auto y = decoded(*v.codec, encoded(*v.codec, x, context), x.size(), context);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = static_cast<double>(y[i]) - x[i];
        sum[i] += error;
        squares[i] += error * error;
        least = std::min(least, error);
        most = std::max(most, error);
      }
    }
    double excess = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      // Maurer and Pontil, "Empirical Bernstein bounds", theorem 4, at six standard errors (one of
      // 64 fails by chance in 10^6 runs): it holds for values that are rarely anything but zero,
      // whose variance is not seen. 1e-6: rounding to a multiple of a step.
      const double mean = sum[i] / kRounds;
      const double variance = std::max(squares[i] / kRounds - mean * mean, 0.0);
      const double bound = 6 * std::sqrt(variance / kRounds) + 42 * (most - least) / kRounds;
      excess = std::max(excess, std::abs(mean) - bound - 1e-6 * std::abs(x[i]));
    }
    CHECK(excess <= 0);
  }
  CHECK(declared >= 1);
}

TEST_CASE("codecs: what is declared summable adds up", "[codec]") {
  const auto seed = test_seed(15);
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    Rng rng(seed, 0);
    const Sample s = samples(*v.codec, {kGranule}).front();
    std::vector<float> x(s.elements);
    std::vector<float> y(s.elements);
    std::vector<float> both(s.elements);
    for (std::size_t i = 0; i < x.size(); ++i) {  // integers: their float sums are exact
      x[i] = static_cast<float>(rng.below(2000)) - 1000;
      y[i] = static_cast<float>(rng.below(2000)) - 1000;
      both[i] = x[i] + y[i];
    }
    auto sum = decoded(*v.codec, encoded(*v.codec, x, s.context), s.elements, s.context);
    const auto bytes = encoded(*v.codec, y, s.context);
    ByteReader in(bytes);
    REQUIRE(v.codec->decode_add(in, s.context, 1, sum).ok());
    const auto of_sum =
        decoded(*v.codec, encoded(*v.codec, both, s.context), s.elements, s.context);
    bool adds = equal_bits(sum, of_sum);
    if (v.codec->properties().whole_tensor) {  // products round
      double error = 0;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        error += std::pow(static_cast<double>(sum[i]) - of_sum[i], 2);
      }
      adds = error <= 1e-10 * square_norm(both);
    }
    CHECK((adds || !v.codec->properties().summable));
  }
}

TEST_CASE("codecs: decoding adds the rounded product of scale and value", "[codec]") {
  const auto seed = test_seed(16);
  for (const Variant& v : variants()) {
    for (const Sample& s : samples(*v.codec, {37, 4096})) {
      const std::size_t n = s.elements;
      CAPTURE(v.name, n, s.rows);
      const auto bytes = encoded(*v.codec, normal_input(n, seed), s.context);
      const auto y = decoded(*v.codec, bytes, n, s.context);
      auto expected = normal_input(n, seed + 1);
      auto acc = expected;
      const float scale = 1.0F / 3;  // products that need rounding, so that fusing would show
      ByteReader in(bytes);
      REQUIRE(v.codec->decode_add(in, s.context, scale, acc).ok());
      std::size_t moved = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const volatile float product = scale * y[i];
        expected[i] += product;
        moved += y[i] != 0 ? 1 : 0;
      }
      CHECK(moved > 0);
      CHECK(equal_bits(acc, expected));
    }
  }
}

TEST_CASE("codecs: every vector target gives the same bytes and values", "[codec][simd]") {
  const auto seed = test_seed(17);
  // On x86 plain C++ is among them, as the baseline.
  std::vector<std::int64_t> targets;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
  REQUIRE_FALSE(targets.empty());
  for (const Variant& v : variants()) {
    for (const Sample& s : samples(*v.codec, kFewSizes)) {
      for (const Input& input : inputs(*v.codec, s, seed)) {
        CAPTURE(v.name, s.elements, s.rows, input.name);
        const auto bytes = encoded(*v.codec, input.x, s.context);
        const auto y = decoded(*v.codec, bytes, s.elements, s.context);
        for (const std::int64_t target : targets) {
          hwy::SetSupportedTargetsForTest(target);
          const bool same = encoded(*v.codec, input.x, s.context) == bytes &&
                            equal_bits(decoded(*v.codec, bytes, s.elements, s.context), y);
          hwy::SetSupportedTargetsForTest(0);
          CAPTURE(hwy::TargetName(target));
          CHECK(same);
        }
      }
    }
  }
}

TEST_CASE("codecs: NaN and Inf are refused at the index they stand", "[codec]") {
  const auto seed = test_seed(18);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const Variant& v : variants()) {
    for (const Sample& s : samples(*v.codec, {1, 33, 4096})) {
      const std::size_t n = s.elements;
      for (const float bad : {nan, -nan, inf, -inf}) {
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
          CAPTURE(v.name, n, bad, at);
          auto x = normal_input(n, seed);
          x[at] = bad;
          ByteWriter out;
          out.put(std::uint8_t{7});
          const Status status = v.codec->encode(x, s.context, out);
          REQUIRE_FALSE(status.ok());
          CHECK(status.error().code == Code::kData);
          CHECK(status.error().message.find(std::to_string(at)) != std::string::npos);
          CHECK(out.size() == 1);
        }
      }
    }
  }
}

TEST_CASE("codecs: every truncation is refused, every flipped bit stays bounded", "[codec]") {
  const auto seed = test_seed(19);
  for (const Variant& v : variants()) {
    for (const Sample& s : samples(*v.codec, {1, 50, 300})) {
      const std::size_t n = s.elements;
      // All places of granules; of tensors, which are long, the first and a sample.
      const std::size_t stride = v.codec->properties().whole_tensor ? 997 : 1;
      for (const Input& input : inputs(*v.codec, s, seed)) {
        CAPTURE(v.name, n, s.rows, input.name);
        auto bytes = encoded(*v.codec, input.x, s.context);
        bool refused = true;
        for (std::size_t size = 0; size < bytes.size(); size += size < 16 ? 1 : stride) {
          std::vector<float> acc(n);
          ByteReader in(ByteSpan(bytes).first(size));
          const Status status = v.codec->decode_add(in, s.context, 1, acc);
          refused = refused && !status.ok() && status.error().code == Code::kBadFrame;
        }
        CHECK(refused);
        bool bounded = true;
        for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += bit < 128 ? 1 : stride) {
          const auto flip = static_cast<std::byte>(1U << (bit % 8));
          bytes[bit / 8] ^= flip;
          std::vector<float> acc(n);
          ByteReader in(bytes);
          const Status status = v.codec->decode_add(in, s.context, 1, acc);
          bounded = bounded && (status.ok() ? first_not_finite(acc) == n
                                            : status.error().code == Code::kBadFrame);
          bytes[bit / 8] ^= flip;
        }
        CHECK(bounded);
      }
    }
  }
}
