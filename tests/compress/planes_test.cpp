#include "compress/planes.h"

#include <hwy/targets.h>

#include <array>
#include <vector>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

using namespace shoal;
using namespace shoal::compress;
using shoal::tests::test_seed;

TEST_CASE("planes: bits lie where they are said to", "[codec]") {
  const std::array<std::uint8_t, 9> codes{1, 2, 3, 0, 0, 0, 0, 1, 2};
  std::array<std::byte, 4> bytes{};
  put_planes(codes, 2, bytes);
  CHECK(bytes ==
        std::array<std::byte, 4>{std::byte{0x85}, std::byte{0}, std::byte{0x06}, std::byte{0x01}});
}

TEST_CASE("planes: on every target codes of every size come back", "[codec][simd]") {
  Rng rng(test_seed(59), 0);
  for (unsigned bits = 1; bits <= 8; ++bits) {
    for (const std::size_t n : {1, 7, 8, 9, 63, 64, 65, 200, 1000}) {
      CAPTURE(bits, n);
      std::vector<std::uint8_t> codes(n);
      std::vector<std::byte> plain(planes_bytes(n, bits));
      for (std::size_t i = 0; i < n; ++i) {
        codes[i] = static_cast<std::uint8_t>(rng.below(std::uint64_t{1} << bits));
        for (unsigned bit = 0; bit < bits; ++bit) {
          const auto set = static_cast<std::byte>((codes[i] >> bit & 1U) << (i % 8));
          plain[bit * ((n + 7) / 8) + i / 8] |= set;
        }
      }
      for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & -left);
        std::vector<std::byte> bytes(planes_bytes(n, bits), std::byte{0xff});
        put_planes(codes, bits, bytes);
        std::vector<std::uint8_t> back(n, 0xff);
        const bool read = get_planes(bytes, bits, back);
        hwy::SetSupportedTargetsForTest(0);
        CHECK(bytes == plain);
        CHECK((read && back == codes));
      }
    }
  }
}

TEST_CASE("planes: padding that is not zero is seen in every plane", "[codec]") {
  std::array<std::byte, 6> bytes{};
  std::array<std::uint8_t, 13> codes{};
  CHECK(get_planes(bytes, 3, codes));
  for (const std::size_t at : {1, 3, 5}) {
    for (const unsigned bit : {5U, 7U}) {
      bytes[at] = static_cast<std::byte>(1U << bit);
      CHECK_FALSE(get_planes(bytes, 3, codes));
      bytes[at] = std::byte{0};
    }
  }
}
