#include <cstring>
#include <limits>

#include "compress/lane.h"
#include "tests/compress/inputs.h"
#include "tests/support/catch.h"

using namespace shoal;
using namespace shoal::compress;
using namespace shoal::compress::tests;

TEST_CASE("fp32: the bytes are the floats", "[codec]") {
  const auto codec = std::move(make_codec("fp32", {})).value();
  for (const Input& input : inputs(100, 1)) {
    const auto bytes = encoded(*codec, input.x);
    REQUIRE(bytes.size() == 4 * input.x.size());
    CHECK(std::memcmp(bytes.data(), input.x.data(), bytes.size()) == 0);
  }
}

TEST_CASE("fp32: NaN and Inf in the bytes are refused", "[codec]") {
  const auto codec = std::move(make_codec("fp32", {})).value();
  for (const std::size_t at : {std::size_t{0}, std::size_t{40}, std::size_t{70}}) {
    for (const std::uint32_t bad : {0x7f800000U, 0xff800000U, 0x7fc00001U, 0xffffffffU}) {
      auto bytes = encoded(*codec, normal_input(71, 1));
      std::memcpy(bytes.data() + 4 * at, &bad, sizeof(bad));
      std::vector<float> acc(71);
      ByteReader in(bytes);
      const Status status = codec->decode_add(in, {}, 1, acc);
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().code == Code::kBadFrame);
    }
  }
}
