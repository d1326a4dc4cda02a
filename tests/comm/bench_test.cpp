#include "comm/bench.h"

#include "tests/support/catch.h"

namespace shoal::comm {
namespace {

TEST_CASE("bench: all three ways carry the bytes", "[zmq]") {
  const auto figures = bench_transport(8 << 20, 1);
  INFO((figures.ok() ? "" : figures.error().message));
  REQUIRE(figures.ok());
  CHECK(figures->raw_tcp > 0);
  CHECK(figures->plain > 0);
  CHECK(figures->encrypted > 0);
}

}  // namespace
}  // namespace shoal::comm
