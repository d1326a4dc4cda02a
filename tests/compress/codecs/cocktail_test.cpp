#include <algorithm>
#include <cmath>

#include "compress/lane.h"
#include "compress/select.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;
using shoal::tests::test_seed;

namespace {

std::unique_ptr<Codec> cocktail(double random, double top, const std::string& bits) {
  Options options;
  options.set("random", random);
  options.set("top", top);
  options.set("bits", bits);
  return std::move(make_codec("cocktail", options)).value();
}

std::size_t nonzeros(std::span<const float> x) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](float v) { return v != 0; }));
}

}  // namespace

TEST_CASE("cocktail: all of all at 32 bits is plain averaging", "[codec]") {
  const auto codec = cocktail(1, 1, "32");
  const auto fp32 = codec_by_wire_id(1);
  std::vector<float> sum(kGranule);
  std::vector<float> plain(kGranule);
  for (std::uint64_t sender = 0; sender < 5; ++sender) {
    const auto x = normal_input(kGranule, test_seed(201) + sender);
    const auto bytes = encoded(*codec, x, {.round = 3, .sender = sender});
    const auto dense = encoded(*fp32, x);
    ByteReader in(bytes);
    ByteReader dense_in(dense);
    REQUIRE(codec->decode_add(in, {}, 0.2F, sum).ok());
    REQUIRE(fp32->decode_add(dense_in, {}, 0.2F, plain).ok());
  }
  CHECK(equal_bits(sum, plain));
}

TEST_CASE("cocktail: senders choose from the same share, the largest of it", "[codec]") {
  const auto codec = cocktail(0.25, 1, "32");
  const auto kept = [&](std::uint64_t sender, std::uint64_t round) {
    const auto x = normal_input(kGranule, test_seed(202) + sender);
    auto y = decoded(*codec, encoded(*codec, x, {.round = round, .sender = sender}), kGranule);
    for (std::size_t i = 0; i < y.size(); ++i) {
      CHECK((y[i] == 0 || y[i] == x[i]));
      y[i] = y[i] != 0 ? 1 : 0;
    }
    return y;
  };
  CHECK(nonzeros(kept(0, 1)) == 1024);
  CHECK(kept(0, 1) == kept(1, 1));
  CHECK(kept(0, 1) != kept(0, 2));

  const auto x = normal_input(kGranule, test_seed(203));
  const CodecContext context{.round = 1};
  const auto few = cocktail(0.25, 0.1, "32");
  const auto y = decoded(*few, encoded(*few, x, context), kGranule);
  const auto share = kept(0, 1);
  float smallest_kept = kFloatMax;
  float largest_lost = 0;
  for (std::size_t i = 0; i < kGranule; ++i) {
    if (y[i] != 0) {
      CHECK(share[i] == 1);
      smallest_kept = std::min(smallest_kept, std::abs(x[i]));
    } else if (share[i] == 1) {
      largest_lost = std::max(largest_lost, std::abs(x[i]));
    }
  }
  CHECK(smallest_kept >= largest_lost);
  const KeepCount keep(0.1, 1024);
  CHECK(nonzeros(y) >= keep.low);
  CHECK(nonzeros(y) <= keep.high);
}

TEST_CASE("cocktail: 4 and 8 bits err by no more than half a step", "[codec]") {
  for (const std::string bits : {"4", "8"}) {
    const double levels = bits == "4" ? 7 : 127;
    for (const Input& input : inputs(kGranule, test_seed(204))) {
      CAPTURE(bits, input.name);
      double max = 0;
      for (const float v : input.x) {
        max = std::max(max, std::abs(static_cast<double>(v)));
      }
      const auto codec = cocktail(1, 1, bits);
      const auto y = decoded(*codec, encoded(*codec, input.x), kGranule);
      // A step is at most 9/8 of max/levels and an ulp of denormals; next to the largest float,
      // where it is rounded down instead, the largest values err by a step of 1/8 each.
      const double step = 9.0 / 8 * (max / levels + std::ldexp(1.0, -149));
      const double allowed = max > 0x1.Cp127 ? max / 8 : 0.5001 * step;
      bool within = true;
      for (std::size_t i = 0; i < kGranule; ++i) {
        within = within && std::abs(static_cast<double>(y[i]) - input.x[i]) <= allowed;
      }
      CHECK(within);
    }
  }
}

TEST_CASE("cocktail: about a hundred times smaller than float32", "[codec]") {
  const auto codec = cocktail(0.5, 0.04, "4");
  std::size_t bytes = 0;
  for (std::uint64_t g = 0; g < 16; ++g) {
    const auto x = normal_input(kGranule, test_seed(205) + g);
    bytes += encoded(*codec, x, {.granule = g}).size();
  }
  // 82 values (72 to 103) of 4 bits, 6.3 of index each (entropy at 4 %), 72 bits of heads: 112
  // bytes, 141 at most.
  CHECK(bytes <= 16 * 141);
}

TEST_CASE("cocktail: bytes that no encoder writes are refused", "[codec]") {
  const auto codec = cocktail(1, 1, "8");
  const auto x = normal_input(10, test_seed(206));
  const auto good = encoded(*codec, x);
  const auto refused = [&](std::size_t at, unsigned flip) {
    auto bytes = good;
    bytes[at] ^= static_cast<std::byte>(flip);
    ByteReader in(bytes);
    std::vector<float> acc(10);
    const Status status = codec->decode_add(in, {}, 1, acc);
    return !status.ok() && status.error().code == Code::kBadFrame;
  };
  CHECK(refused(3, 0x80));  // zeros of the head
  CHECK(refused(0, 0x10));  // a share of more than there are
  CHECK(refused(4, 0x80));  // a count beyond the share
  CHECK(decoded(*codec, good, 10).size() == 10);
}
