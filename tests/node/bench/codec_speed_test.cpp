#include "node/bench/codec_speed.h"

#include "compress/codec.h"
#include "tests/support/catch.h"

namespace shoal::node::tests {

TEST_CASE("bench codec: every codec of the registry has figures") {
  const BootClock clock;
  for (const auto& entry : compress::registry()) {
    for (const std::uint64_t elements : {std::uint64_t{4096}, std::uint64_t{5000}}) {
      const auto speed = time_codec(entry.name, elements, Duration{0}, clock);
      INFO(entry.name);
      REQUIRE(speed.ok());
      CHECK(speed->codec == entry.name);
      CHECK(speed->elements == elements);
      CHECK(speed->encode_gbps > 0);
      CHECK(speed->decode_gbps > 0);
      CHECK(speed->memcpy_gbps > 0);
      CHECK(speed->ratio >= 1);
    }
  }
}

TEST_CASE("bench codec: a clock that stands still does no harm, an unknown codec is an error") {
  struct Still final : Clock {
    [[nodiscard]] TimePoint now() const override { return {}; }
  };
  const Still clock;
  CHECK(time_codec(compress::registry().front().name, 1, Duration{0}, clock).ok());
  const auto unknown = time_codec("zip", 1, Duration{0}, clock);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == Code::kConfig);
}

}  // namespace shoal::node::tests
