#include "node/bench/codec_speed.h"

#include <algorithm>

#include "tests/support/catch.h"

namespace shoal::node::tests {

TEST_CASE("bench codec: every codec of the registry and each of its choices has figures") {
  const BootClock clock;
  const auto names = codec_variants();
  for (const auto& entry : compress::registry()) {
    CHECK(std::count(names.begin(), names.end(), entry.name) == 1);
  }
  CHECK(std::count(names.begin(), names.end(), "topk:values=bf16") == 1);
  CHECK(std::count(names.begin(), names.end(), "topk:values=int8") == 0);  // the default
  for (const auto& name : names) {
    for (const std::uint64_t elements : {std::uint64_t{4096}, std::uint64_t{5000}}) {
      INFO(name);
      auto trial = make_trial(name, normal_input(elements));
      REQUIRE(trial.ok());
      CHECK(trial->map->parameter_count() == elements);
      const auto speed = time_codec(*trial, Duration{0}, clock);
      REQUIRE(speed.ok());
      CHECK(speed->encode_gbps > 0);
      CHECK(speed->decode_gbps > 0);
      CHECK(speed->residual_gbps > 0);
      CHECK(speed->memcpy_gbps > 0);
      CHECK(speed->ratio >= 1);
    }
  }
}

TEST_CASE("bench codec: a clock that stands still does no harm") {
  struct Still final : Clock {
    [[nodiscard]] TimePoint now() const override { return {}; }
  };
  const Still clock;
  auto trial = make_trial("fp32", normal_input(4096));
  REQUIRE(trial.ok());
  CHECK(time_codec(*trial, Duration{0}, clock).ok());
}

}  // namespace shoal::node::tests
