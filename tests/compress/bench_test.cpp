#include "compress/bench.h"

#include <array>

#include "compress/codec.h"
#include "tests/support/catch.h"

using namespace shoal;
using namespace shoal::compress;

TEST_CASE("bench: a row for each codec and size", "[bench]") {
  const BootClock clock;
  const std::array<std::uint64_t, 2> sizes{4096, 5000};
  const auto rows = bench_codecs(clock, sizes, 1);
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == sizes.size() * registry().size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const BenchRow& row = (*rows)[i];
    CHECK(row.codec == registry()[i % registry().size()].name);
    CHECK(row.elements == sizes[i / registry().size()]);
    CHECK(row.encode_gbps > 0);
    CHECK(row.decode_gbps > 0);
    CHECK(row.memcpy_gbps > 0);
    CHECK(row.ratio > 0);
    CHECK(row.ratio <= 1);
  }
}

TEST_CASE("bench: a clock that stands still and impossible sizes do no harm", "[bench]") {
  struct Still final : Clock {
    [[nodiscard]] TimePoint now() const override { return {}; }
  };
  const Still clock;
  const std::array<std::uint64_t, 1> one{1};
  CHECK(bench_codecs(clock, one, 1).ok());
  const std::array<std::uint64_t, 1> none{0};
  CHECK_FALSE(bench_codecs(clock, none, 1).ok());
  CHECK_FALSE(bench_codecs(clock, one, 0).ok());
}
