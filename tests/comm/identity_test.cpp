#include "comm/identity.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace shoal::comm {
namespace {

namespace fs = std::filesystem;

ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_CASE("identity: made once, then read back") {
  const shoal::tests::TempFolder folder;
  const auto first = Identity::load_or_create(folder.path() / "new");
  REQUIRE(first.ok());
  const auto again = Identity::load_or_create(folder.path() / "new");
  REQUIRE(again.ok());
  CHECK(first->id() == again->id());
  CHECK(first->curve_secret() == again->curve_secret());

  struct stat info {};
  REQUIRE(::stat((folder.path() / "new" / "identity.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
  // Nothing is left beside it.
  CHECK(std::distance(fs::directory_iterator(folder.path() / "new"), fs::directory_iterator()) ==
        1);
}

TEST_CASE("identity: a file that others may read is refused with a remedy") {
  const shoal::tests::TempFolder folder;
  REQUIRE(Identity::load_or_create(folder.path()).ok());
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    REQUIRE(::chmod((folder.path() / "identity.key").c_str(), mode) == 0);
    const auto refused = Identity::load_or_create(folder.path());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kConfig);
    CHECK(refused.error().message.find("chmod 600") != std::string::npos);
  }
}

TEST_CASE("identity: a damaged file is refused, never replaced") {
  const shoal::tests::TempFolder folder;
  REQUIRE(Identity::load_or_create(folder.path()).ok());
  const fs::path path = folder.path() / "identity.key";
  const auto content = [&] {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string good = content();
  for (const std::string& bad :
       {good.substr(0, good.size() - 2), good + "x", std::string(), "x" + good.substr(1),
        good.substr(0, 30) + "g" + good.substr(31)}) {
    std::ofstream(path, std::ios::trunc) << bad;
    CHECK_FALSE(Identity::load_or_create(folder.path()).ok());
    CHECK(content() == bad);
  }
}

TEST_CASE("identity: the derived keys of the link agree with the public id") {
  const Identity a = Identity::generate();
  const auto key = curve_key_of(a.id());
  REQUIRE(key.ok());
  CHECK(*key == a.curve_public());
  CHECK(Identity::from_seed(a.seed()).id() == a.id());
  CHECK(Identity::generate().id() != a.id());
  CHECK_FALSE(curve_key_of(PeerId{}).ok());
}

TEST_CASE("identity: a signature holds for one signer and one message") {
  const Identity a = Identity::generate();
  const Identity b = Identity::generate();
  const auto signature = a.sign(SignedAs::kEnrolment, bytes_of("words"));
  CHECK(verify(a.id(), SignedAs::kEnrolment, bytes_of("words"), signature));
  CHECK_FALSE(verify(b.id(), SignedAs::kEnrolment, bytes_of("words"), signature));
  CHECK_FALSE(verify(a.id(), SignedAs::kEnrolment, bytes_of("wordz"), signature));
  CHECK_FALSE(verify(a.id(), SignedAs{2}, bytes_of("words"), signature));
  CHECK_FALSE(
      verify(a.id(), SignedAs::kEnrolment, bytes_of("words"), ByteSpan(signature).first(9)));
  auto flipped = signature;
  flipped[3] ^= std::byte{1};
  CHECK_FALSE(verify(a.id(), SignedAs::kEnrolment, bytes_of("words"), flipped));
}

TEST_CASE("identity: SHOAL_HOME comes first") {
  ::setenv("SHOAL_HOME", "/tmp/somewhere", 1);
  const auto home = home_folder();
  ::unsetenv("SHOAL_HOME");
  REQUIRE(home.ok());
  CHECK(*home == "/tmp/somewhere");
}

}  // namespace
}  // namespace shoal::comm
