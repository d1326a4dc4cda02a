#include "ops/base/bytes.h"

#include <array>
#include <limits>

#include "tests/support/catch.h"

namespace shoal {
namespace {

TEST_CASE("what was written is read back") {
  ByteWriter out;
  out.put(std::uint8_t{7});
  out.put(std::uint64_t{0x1122334455667788});
  out.put(-1.5F);
  out.put_string("shoal");
  const auto bytes = out.take_bytes();
  CHECK(std::to_integer<int>(bytes.data()[1]) == 0x88);  // little-endian

  ByteReader in(bytes.span());
  std::uint8_t a = 0;
  std::uint64_t b = 0;
  float c = 0;
  std::string d;
  REQUIRE((in.get(a) && in.get(b) && in.get(c) && in.get_string(d, 10)));
  CHECK(a == 7);
  CHECK(b == 0x1122334455667788);
  CHECK(c == -1.5F);
  CHECK(d == "shoal");
  CHECK(in.left() == 0);
}

TEST_CASE("a reader refuses what is not there") {
  ByteWriter out;
  out.put_string("shoal");
  const auto whole = out.take_bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ByteReader in(whole.span().first(size));
    std::string text;
    REQUIRE_FALSE(in.get_string(text, 100));
  }
  ByteReader too_long(whole.span());
  std::string text;
  CHECK_FALSE(too_long.get_string(text, 4));

  ByteReader seven(whole.span().first(7));
  std::uint64_t number = 0;
  CHECK_FALSE(seven.get(number));
  CHECK(seven.left() == 7);
  ByteSpan span;
  CHECK_FALSE(seven.get_bytes(std::numeric_limits<std::size_t>::max(), span));
  CHECK(seven.get_bytes(7, span));
}

TEST_CASE("bytes keep their buffer alive through slices") {
  Bytes slice;
  {
    const Bytes whole(std::vector<std::byte>(100, std::byte{9}));
    slice = whole.slice(10, 5);
  }
  CHECK(slice.size() == 5);
  CHECK(slice.data()[4] == std::byte{9});
  CHECK(Bytes().empty());
  CHECK(Bytes::copy_of(slice.span()).size() == 5);
}

TEST_CASE("hex goes both ways and refuses the rest") {
  std::array<std::byte, 3> raw = {std::byte{0x00}, std::byte{0xaf}, std::byte{0x10}};
  CHECK(to_hex(raw) == "00af10");
  std::array<std::byte, 3> back{};
  CHECK(from_hex("00AF10", back));
  CHECK(back == raw);
  CHECK_FALSE(from_hex("00af1", back));
  CHECK_FALSE(from_hex("00af1g", back));
  CHECK_FALSE(from_hex("00af1000", back));
}

}  // namespace
}  // namespace shoal
