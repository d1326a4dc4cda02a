#include "comm/round/deadlines.h"

#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

using std::chrono::seconds;

}  // namespace

TEST_CASE("a deadline that was never met grows up to its bound") {
  LearntDeadline deadline(seconds(30), seconds(1), seconds(120));
  CHECK(deadline.value() == seconds(30));
  deadline.missed();
  CHECK(deadline.value() == seconds(45));
  for (int i = 0; i < 10; ++i) {
    deadline.missed();
  }
  CHECK(deadline.value() == seconds(120));
}

TEST_CASE("a deadline is learnt from what was observed, within its bounds") {
  LearntDeadline deadline(seconds(30), seconds(1), seconds(120));
  deadline.observe(seconds(2));
  CHECK(deadline.value() == seconds(12));  // 2 (2 + 4 x 2/2)
  for (int i = 0; i < 100; ++i) {
    deadline.observe(seconds(2));
  }
  // The deviation falls by a quarter each time: 0.75^100 of a second is nothing.
  CHECK(deadline.value() - seconds(4) < std::chrono::microseconds(1));
  for (int i = 0; i < 100; ++i) {
    deadline.observe(std::chrono::milliseconds(1));
  }
  CHECK(deadline.value() == seconds(1));
}

}  // namespace shoal::comm
