#include "ops/onnx/message.h"

#include <limits>

#include "tests/support/catch.h"

namespace shoal::ops::onnx {
namespace {

std::string hex(const Message& message) { return to_hex(message.span()); }

TEST_CASE("protobuf fields have the bytes of its documentation") {
  SECTION("varints") {
    Message m;
    m.integer(1, 150);  // the example of the encoding guide
    CHECK(hex(m) == "089601");
  }
  SECTION("text and a message within a message") {
    Message inner;
    inner.integer(1, 150);
    Message m;
    m.text(2, "testing");
    m.message(3, inner);
    CHECK(hex(m) == "120774657374696e671a03089601");
  }
  SECTION("negative numbers take ten bytes, fields beyond 15 two of tag") {
    Message m;
    m.integer(20, -1);
    CHECK(hex(m) == "a001ffffffffffffffffff01");
  }
  SECTION("reals are four bytes, least first") {
    Message m;
    m.real(2, 1.5F);
    CHECK(hex(m) == "150000c03f");
  }
  SECTION("lengths beyond 127 take two bytes") {
    Message m;
    m.text(1, std::string(300, 'a'));
    CHECK(hex(m).substr(0, 6) == "0aac02");
    CHECK(m.span().size() == 303);
  }
}

}  // namespace
}  // namespace shoal::ops::onnx
