#include <algorithm>
#include <cmath>

#include "compress/index_coding.h"
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

std::unique_ptr<Codec> chain(const std::string& stages, double density = 0.01) {
  Options options;
  options.set("stages", stages);
  options.set("density", density);
  auto codec = make_codec("chain", options);
  INFO((codec.ok() ? stages : codec.error().message));
  REQUIRE(codec.ok());
  return std::move(codec).value();
}

std::string refusal(const std::string& stages) {
  Options options;
  options.set("stages", stages);
  const auto codec = make_codec("chain", options);
  return codec.ok() ? "" : codec.error().message;
}

/// Every selector with every codec that may follow one.
std::vector<Variant> chains() {
  std::vector<Variant> all;
  for (const CodecEntry& entry : registry()) {
    for (const std::string before : {"", "topk ", "exact ", "randomk "}) {
      for (const std::string after : {"", " zstd"}) {
        const std::string stages = before + entry.name + after;
        if (refusal(stages).empty()) {
          all.push_back({stages, chain(stages, 0.1)});
        }
      }
    }
  }
  return all;
}

double square_error(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  }
  return sum;
}

}  // namespace

TEST_CASE("chain: every chain round-trips, within its bound, and refuses what is cut", "[codec]") {
  const auto all = chains();
  CHECK(all.size() >= 3 * 8);  // fp32, bf16 and int8 at least
  const Codec& reader = *codec_by_wire_id(17);
  for (const Variant& v : all) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{4096}}) {
      for (const Input& input : inputs(n, test_seed(191))) {
        CAPTURE(v.name, n, input.name);
        const auto bytes = encoded(*v.codec, input.x);
        CHECK(bytes.size() <= v.codec->bytes_max(n, 1));
        const auto y = decoded(reader, bytes, n);
        CHECK(first_not_finite(y) == n);
        const std::vector<float> zeros(n);
        const double norm = square_error(input.x, zeros);
        CHECK((v.codec->properties().contraction == 0 ||
               square_error(input.x, y) <=
                   (1 - v.codec->properties().contraction) * norm * (1 + 1e-12)));
        CHECK((!v.codec->properties().lossless || equal_bits(y, input.x)));
        ByteReader cut(ByteSpan(bytes).first(bytes.size() - 1));
        std::vector<float> acc(n);
        CHECK_FALSE(reader.decode_add(cut, {}, 1, acc).ok());
      }
    }
  }
}

TEST_CASE("chain: a flipped bit is refused or stays finite", "[codec]") {
  for (const Variant& v : chains()) {
    auto bytes = encoded(*v.codec, normal_input(200, test_seed(192)));
    bool bounded = true;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const auto flip = static_cast<std::byte>(1U << (bit % 8));
      bytes[bit / 8] ^= flip;
      std::vector<float> acc(200);
      ByteReader in(bytes);
      const Status status = v.codec->decode_add(in, {}, 1, acc);
      bounded = bounded && (status.ok() ? first_not_finite(acc) == acc.size()
                                        : status.error().code == Code::kBadFrame);
      bytes[bit / 8] ^= flip;
    }
    CAPTURE(v.name);
    CHECK(bounded);
  }
}

TEST_CASE("chain: stages do what they do alone", "[codec]") {
  const auto x = normal_input(kGranule, test_seed(193));
  const CodecContext context{.run_seed = 1, .round = 2, .granule = 3};
  Options options;
  options.set("density", 0.05);
  options.set("values", std::string("fp32"));
  const auto topk = std::move(make_codec("topk", options)).value();
  Options share;
  share.set("density", 0.05);
  const auto randomk = std::move(make_codec("randomk", share)).value();
  const auto through = [&](const Codec& codec) {
    return decoded(codec, encoded(codec, x, context), kGranule);
  };
  CHECK(through(*chain("topk fp32", 0.05)) == through(*topk));
  CHECK(through(*chain("randomk fp32", 0.05)) == through(*randomk));
  CHECK(equal_bits(through(*chain("fp32 zstd")), x));
  const auto exact = through(*chain("exact fp32", 0.05));
  CHECK(std::count_if(exact.begin(), exact.end(), [](float v) { return v != 0; }) == 205);
}

TEST_CASE("chain: zstd packs what repeats and leaves what does not", "[codec]") {
  const std::vector<float> flat(kGranule, 0.5F);
  CHECK(encoded(*chain("fp32 zstd"), flat).size() < 100);
  const auto x = normal_input(kGranule, test_seed(194));
  const auto plain = encoded(*chain("bf16"), x);
  auto packed = encoded(*chain("bf16 zstd"), x);
  CHECK(packed.size() <= plain.size());
  CHECK(equal_bits(decoded(*chain("bf16"), packed, kGranule),
                   decoded(*chain("bf16"), plain, kGranule)));

  // A second frame behind the first, which zstd alone would read on.
  packed = encoded(*chain("fp32 zstd"), flat);
  const auto size = static_cast<std::size_t>(packed[2]) + 256 * static_cast<std::size_t>(packed[3]);
  REQUIRE(packed.size() == 4 + size);
  const std::vector<std::byte> frame{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d},
                                     std::byte{0x18}, std::byte{0},    std::byte{0},
                                     std::byte{0},    std::byte{0}};
  packed.insert(packed.end(), frame.begin(), frame.end());
  packed[2] = static_cast<std::byte>((size + frame.size()) & 0xff);
  packed[3] = static_cast<std::byte>((size + frame.size()) >> 8);
  ByteReader in(packed);
  std::vector<float> acc(kGranule);
  CHECK_FALSE(chain("fp32 zstd")->decode_add(in, {}, 1, acc).ok());
}

TEST_CASE("chain: what zstd 1.5.4 packed is read for ever", "[codec][golden]") {
  const std::string hex = "0c00140028b52ffd20905d0000200000003f010089294704";
  std::vector<std::byte> bytes(hex.size() / 2);
  REQUIRE(from_hex(hex, bytes));
  const auto y = decoded(*codec_by_wire_id(17), bytes, 36);
  CHECK(equal_bits(y, std::vector<float>(36, 0.5F)));
}

TEST_CASE("chain: wrong stages are refused in words", "[codec]") {
  CHECK(refusal("topk int9").find("\"int8\"") != std::string::npos);
  CHECK(refusal("topk").find("no codec") != std::string::npos);
  CHECK(refusal("").find("no codec") != std::string::npos);
  CHECK(refusal("zstd int8").find("zstd") != std::string::npos);
  CHECK(refusal("int8 topk").find("\"topk\"") != std::string::npos);
  CHECK(refusal("topk int8 zstd zstd").find("stages are") != std::string::npos);
  CHECK(refusal("topk chain").find("chain can't be a stage") != std::string::npos);
  CHECK(refusal("topk dgc").find("dgc can't be a stage") != std::string::npos);
}

TEST_CASE("chain: heads that no encoder writes are refused", "[codec]") {
  const auto decodes = [](std::vector<std::pair<std::uint32_t, unsigned>> fields) {
    std::vector<std::byte> bytes(100);
    BitWriter out(bytes);
    for (const auto& [value, width] : fields) {
      out.put(value, width);
    }
    bytes.resize(out.finish());
    std::vector<float> acc(2);
    ByteReader in(bytes);
    return codec_by_wire_id(17)->decode_add(in, {}, 1, acc).ok() && in.left() == 0;
  };
  const std::uint32_t one = bits_of(1.0F);
  CHECK(decodes({{0, 2}, {0, 1}, {1, 8}, {0, 5}, {one, 32}, {one, 32}}));
  CHECK(decodes({{3, 2}, {0, 1}, {1, 8}, {0, 5}}));                   // nothing kept
  CHECK_FALSE(decodes({{3, 2}, {1, 1}, {1, 8}, {0, 5}}));             // nothing, packed
  CHECK_FALSE(decodes({{0, 2}, {0, 1}, {17, 8}, {0, 5}, {0, 32}}));   // a chain in a chain
  CHECK_FALSE(decodes({{0, 2}, {0, 1}, {255, 8}, {0, 5}, {0, 32}}));  // no such codec
  CHECK_FALSE(decodes({{0, 2}, {0, 1}, {1, 8}, {1, 5}, {one, 32}, {one, 32}}));  // padding
  CHECK(decodes({{1, 2}, {0, 1}, {1, 8}, {0, 4}, {0, 12}, {1, 2}, {0, 3}, {one, 32}}));
  CHECK_FALSE(decodes({{1, 2}, {0, 1}, {1, 8}, {0, 4}, {2, 12}, {0, 5}, {one, 32}}));
  CHECK_FALSE(decodes({{2, 2}, {0, 1}, {1, 8}, {0, 5}, {2, 32}, {one, 32}}));  // of three values
}
