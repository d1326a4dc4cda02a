#include "node/codec_config.h"

#include "tests/node/support/team.h"
#include "tests/support/catch.h"

using namespace shoal;
using namespace shoal::node;
using namespace shoal::node::tests;
using Catch::Matchers::Contains;

namespace {

const std::string kFree = "run.reproducible=false";

std::string refusal(const std::vector<std::string>& settings) {
  const auto choice = configured_codec(Team::config(2, 0, settings), "codec");
  REQUIRE_FALSE(choice.ok());
  CHECK(choice.error().code == Code::kConfig);
  return choice.error().message;
}

/// Every look at it is a microsecond later.
class Ticking final : public Clock {
 public:
  TimePoint now() const override { return {std::chrono::microseconds(++looks_)}; }

 private:
  mutable std::int64_t looks_ = 0;
};

}  // namespace

TEST_CASE("codec configuration: a name is that codec, auto is a choice for both directions") {
  const auto one = configured_codec(Team::config(2, 0, {"compress.codec=int8"}), "codec");
  REQUIRE(one.ok());
  CHECK(one->fixed());
  CHECK(one->offers().front().name == "int8");
  const Config config = Team::config(2, 0, {"compress.codec=auto", kFree});
  for (const char* kind : {"codec", "answer"}) {
    const auto choice = configured_codec(config, kind);
    REQUIRE(choice.ok());
    REQUIRE(choice->offers().size() == 3);
    CHECK(choice->offers()[0].name == "fp32");
    CHECK(choice->offers()[2].name == "int8");
    const auto planned = planned_codec(config, kind);
    REQUIRE(planned.ok());
    CHECK((*planned)->properties().lossless);
  }
}

TEST_CASE("codec configuration: with a clock the candidates are measured") {
  const Config config =
      Team::config(2, 0, {"compress.codec=auto", kFree, "compress.candidates=int8 fp32"});
  const Ticking clock;
  const auto choice = configured_codec(config, "codec", &clock);
  REQUIRE(choice.ok());
  for (const auto& offer : choice->offers()) {
    CAPTURE(offer.name);
    CHECK(offer.cost.encode_s == Approx(1e-6 / (256 * 256)));
    CHECK(offer.cost.decode_s == Approx(1e-6 / (256 * 256)));
  }
  CHECK(choice->offers()[0].cost.bytes < 1.04);
  CHECK(choice->offers()[1].cost.bytes == 4);
}

TEST_CASE("codec configuration: what auto can't choose from is refused in words") {
  CHECK_THAT(refusal({"compress.codec=auto", kFree, "compress.candidates=fp32 int9"}),
             Contains("int9") && Contains("int8"));
  CHECK_THAT(refusal({"compress.codec=auto", kFree, "compress.candidates="}),
             Contains("candidates"));
  CHECK_THAT(refusal({"compress.codec=auto", "run.reproducible=true"}),
             Contains("run.reproducible") && Contains("fixed codec"));
}
