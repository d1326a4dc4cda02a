#include "comm/invite.h"

#include <string>

#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

Invite example() {
  static const Identity kInviter = Identity::generate();
  return Invite::make(kInviter, 0x123456789abcdef0ULL, "quickstart",
                      {"192.168.178.20:47700", "[2001:db8::1234]:47700"});
}

TEST_CASE("invite: a line says all that was put into it") {
  const Invite invite = example();
  const std::string line = invite.encode();
  CHECK(line.size() < 300);
  CHECK(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos);
  for (const std::string& pasted : {line, "  " + line + "\n"}) {
    const auto read = Invite::decode(pasted);
    REQUIRE(read.ok());
    CHECK(*read == invite);
  }
  CHECK(looks_like_invite(line));
  CHECK_FALSE(looks_like_invite("configs/quickstart.toml"));
}

TEST_CASE("invite: any one changed, missing, doubled or swapped character is noticed") {
  const std::string line = example().encode();
  const std::string others = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
  const auto refused = [](const std::string& text) {
    const auto read = Invite::decode(text);
    return !read.ok() && read.error().code == Code::kConfig &&
           read.error().message.find("changed or cut short") != std::string::npos;
  };
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (const char c : others) {
      std::string bad = line;
      bad[i] = c;
      accepted += c != line[i] && !refused(bad) ? 1 : 0;
    }
    accepted += refused(line.substr(0, i)) ? 0 : 1;
    accepted += refused(line.substr(0, i) + line.substr(i + 1)) ? 0 : 1;
    accepted += refused(line.substr(0, i) + line[i] + line.substr(i)) ? 0 : 1;
    if (i + 1 < line.size() && line[i] != line[i + 1]) {
      std::string swapped = line;
      std::swap(swapped[i], swapped[i + 1]);
      accepted += refused(swapped) ? 0 : 1;
    }
  }
  CHECK(accepted == 0);
  std::string damaged = line;
  damaged[2] = 'x';
  CHECK(looks_like_invite(damaged));
}

TEST_CASE("invite: the guest's key belongs to one inviter and one run") {
  const Identity a = Identity::generate();
  const Identity b = Identity::generate();
  const auto guest = [](const Identity& inviter, std::uint64_t run) {
    return Invite::make(inviter, run, "name", {}).guest().id();
  };
  CHECK(guest(a, 1) == guest(a, 1));
  CHECK(guest(a, 1) != guest(a, 2));
  CHECK(guest(a, 1) != guest(b, 1));
}

TEST_CASE("an invitation can't write on the terminal of whoever pastes it") {
  const Identity inviter = Identity::generate();
  Invite shown = Invite::make(inviter, 7, "run\x1b[2J", {});
  CHECK(shown.run_name == "run?[2J");
  CHECK(Invite::decode(shown.encode()).ok());
  shown.run_name = "run\x1b[2J";
  CHECK_FALSE(Invite::decode(shown.encode()).ok());
  Invite dialled = Invite::make(inviter, 7, "run", {});
  dialled.addresses = {{"host\x1b[2J", 47700}};
  CHECK_FALSE(Invite::decode(dialled.encode()).ok());
}

}  // namespace
}  // namespace shoal::comm
