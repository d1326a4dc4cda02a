#include "node/units.h"

#include "tests/support/catch.h"

namespace shoal::tests {
namespace {

using node::parse_bytes;
using node::parse_hours;
using node::parse_rate;

TEST_CASE("rates are bytes a second, whatever the unit") {
  CHECK(parse_rate("20Mbit/s").value() == 2.5e6);
  CHECK(parse_rate("2.5MB/s").value() == 2.5e6);
  CHECK(parse_rate("512 KiB/s").value() == 524288.0);
  CHECK(parse_rate("800 bit/s").value() == 100.0);
  CHECK(parse_rate("0").value() == 0.0);
  CHECK(parse_rate("").value() == 0.0);
  for (const char* bad : {"20", "20M", "Mbit/s", "-1MB/s", "nan MB/s", "inf B/s", "1e30GB/s",
                          "20Mbit", "20 Mbit/s x"}) {
    INFO(bad);
    const auto rate = parse_rate(bad);
    REQUIRE_FALSE(rate.ok());
    CHECK(rate.error().code == Code::kConfig);
  }
}

TEST_CASE("sizes are bytes, whatever the unit") {
  CHECK(parse_bytes("64MiB").value() == 64U << 20U);
  CHECK(parse_bytes("2GB").value() == 2'000'000'000);
  CHECK(parse_bytes("4096").value() == 4096);
  CHECK(parse_bytes("1.5 KiB").value() == 1536);
  CHECK(parse_bytes("").value() == 0);
  for (const char* bad : {"2Gbit", "2M", "MiB", "-1", "1e30", "2GB/s", "nan"}) {
    INFO(bad);
    CHECK_FALSE(parse_bytes(bad).ok());
  }
}

TEST_CASE("hours go over midnight when the first is the later") {
  const auto night = parse_hours("22-7").value();
  CHECK(night.contains(22));
  CHECK(night.contains(0));
  CHECK(night.contains(6));
  CHECK_FALSE(night.contains(7));
  CHECK_FALSE(night.contains(21));
  const auto day = parse_hours("9-17").value();
  CHECK(day.contains(9));
  CHECK_FALSE(day.contains(17));
  CHECK(parse_hours("").value().contains(3));
  CHECK(parse_hours("0-24").value().contains(23));
  for (const char* bad : {"22", "22-", "-7", "7-7", "24-3", "3-25", "a-b", "1-2-3", "22 - 7"}) {
    INFO(bad);
    CHECK_FALSE(parse_hours(bad).ok());
  }
}

TEST_CASE("bytes are written for people") {
  CHECK(node::bytes_text(0) == "0 B");
  CHECK(node::bytes_text(999) == "999 B");
  CHECK(node::bytes_text(1000) == "1.0 KB");
  CHECK(node::bytes_text(1.5e6) == "1.5 MB");
  CHECK(node::bytes_text(312e3) == "312 KB");
  CHECK(node::bytes_text(999.9e6) == "1.0 GB");
}

}  // namespace
}  // namespace shoal::tests
