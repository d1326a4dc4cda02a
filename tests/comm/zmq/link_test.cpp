#include "comm/zmq/link.h"

#include "comm/limits.h"
#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

using std::chrono::milliseconds;

TimePoint at(int ms) { return {std::chrono::hours(1) + milliseconds(ms)}; }

/// A link whose connections lead nowhere.
struct Standing {
  Standing() {
    link.connections = {&control, &bulk};
    link.up = true;
  }
  bool over(int ms) {
    again = kNever;
    return link.over(at(ms), again);
  }

  std::shared_ptr<const Waker> waker = std::make_shared<const Waker>();
  Connection control{nullptr, -1, waker, limits::kPayloadBytesMax};
  Connection bulk{nullptr, -1, waker, limits::kPayloadBytesMax};
  Link link{PeerId{}, 1};
  TimePoint again = kNever;
};

TEST_CASE("link: it is over when both have ended and what they left was handed over") {
  Standing s;
  CHECK_FALSE(s.over(0));
  CHECK(s.again == kNever);
  s.bulk.ended = true;
  s.bulk.handed_over = true;
  CHECK_FALSE(s.over(1));
  s.control.ended = true;
  // However long libzmq's thread is kept from it, within reason.
  CHECK_FALSE(s.over(2));
  CHECK(s.again == at(3));
  CHECK_FALSE(s.over(300));
  s.control.handed_over = true;
  CHECK(s.over(301));
}

TEST_CASE("link: the second end is waited for while bytes still come, though not for ever") {
  Standing s;
  s.control.ended = true;
  s.control.handed_over = true;
  CHECK_FALSE(s.over(0));
  CHECK(s.again == at(500));
  for (int ms = 400; ms <= 8000; ms += 400) {
    s.bulk.bytes_read += 1;
    REQUIRE_FALSE(s.over(ms));
  }
  SECTION("nothing more comes") {
    CHECK_FALSE(s.over(8099));
    CHECK(s.over(8100));
  }
  SECTION("more comes") {
    s.bulk.bytes_read += 1;
    CHECK(s.over(8500));
  }
}

TEST_CASE("link: a greeting is read back, and no other bytes are one") {
  const Bytes frame = Greeting{77, Class::kBulk, 12'345}.encode();
  const auto back = Greeting::decode(frame.span());
  REQUIRE(back.has_value());
  CHECK(back->link == 77);
  CHECK(back->cls == Class::kBulk);
  CHECK(back->rate == 12'345);
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    CHECK_FALSE(Greeting::decode(frame.slice(0, cut).span()).has_value());
  }
  CHECK_FALSE(Greeting::decode(Greeting{1, Class::kBulk, limits::kRateMax + 1}.encode().span())
                  .has_value());
}

}  // namespace
}  // namespace shoal::comm
