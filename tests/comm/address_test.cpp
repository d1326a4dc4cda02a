#include "comm/address.h"

#include <string>

#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

TEST_CASE("address: what people write is read, and written back") {
  struct Case {
    const char* text;
    const char* host;
    int port;
    const char* canonical;
  };
  const Case cases[] = {
      {"example.org", "example.org", 47700, "example.org:47700"},
      {"example.org:80", "example.org", 80, "example.org:80"},
      {"10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"},
      {"2001:db8::1", "2001:db8::1", 47700, "[2001:db8::1]:47700"},
      {"[2001:db8::1]", "2001:db8::1", 47700, "[2001:db8::1]:47700"},
      {"[::1]:5", "::1", 5, "[::1]:5"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto address = parse_address(c.text);
    REQUIRE(address.ok());
    CHECK(address->host == c.host);
    CHECK(address->port == c.port);
    CHECK(address->text() == c.canonical);
    CHECK(*parse_address(address->text()) == *address);
  }
}

TEST_CASE("address: what is none is refused in words") {
  for (const std::string text :
       {"", ":1", "host:", "host:x", "host:65536", "host:-1", "host:1 ", "[::1", "[::1]5", "[]:1",
        "a b", "ho/st", "tcp://host:1", "1:2:3", "[host]:1x", "host\n"}) {
    INFO(text);
    const auto address = parse_address(text);
    REQUIRE_FALSE(address.ok());
    CHECK(address.error().code == Code::kConfig);
  }
  CHECK_FALSE(parse_address(std::string(300, 'a')).ok());
}

TEST_CASE("address: loopback is told from names that only look like it") {
  for (const char* yes : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    CHECK(Address{yes}.loopback());
  }
  for (const char* no : {"127.example.org", "10.0.0.1", "::", "localhost.example.org"}) {
    CHECK_FALSE(Address{no}.loopback());
  }
}

TEST_CASE("address: what we announce can be read, and a free port has no holder") {
  const auto own = local_addresses(47700);
  REQUIRE_FALSE(own.empty());
  for (const std::string& text : own) {
    INFO(text);
    const auto address = parse_address(text);
    REQUIRE(address.ok());
    CHECK(address->numeric());
    CHECK(address->port == 47700);
  }
  CHECK(port_holder(1).empty());
}

}  // namespace
}  // namespace shoal::comm
