#include "ops/base/hash.h"

#include "tests/support/catch.h"

namespace shoal {
namespace {

TEST_CASE("BLAKE2b-256 gives the known digests") {
  // Source: RFC 7693's algorithm with a digest of 32 bytes, as Python's hashlib gives it.
  CHECK(Hasher().finish().hex() ==
        "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  CHECK(Hasher().add("abc").finish().hex() ==
        "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST_CASE("a digest does not depend on how the bytes were cut") {
  const std::string text = "The quick brown fox jumps over the lazy dog, more than once a day.";
  const Hash256 whole = Hasher().add(text).finish();
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const Hash256 parts = Hasher().add(text.substr(0, cut)).add(text.substr(cut)).finish();
    REQUIRE(parts == whole);
  }
  CHECK(hash_of(std::as_bytes(std::span(text))) == whole);
}

TEST_CASE("digests compare and know zero") {
  CHECK(Hash256{}.is_zero());
  CHECK_FALSE(Hasher().finish().is_zero());
  CHECK(Hasher().add_u64(1).finish() != Hasher().add_u64(2).finish());
}

}  // namespace
}  // namespace shoal
