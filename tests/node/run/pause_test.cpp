#include "node/run/pause.h"

#include "tests/node/support/team.h"
#include "tests/support/temp_folder.h"

namespace shoal::node::tests {

using Catch::Matchers::Contains;

TEST_CASE("pause: hours of the day, over midnight too, and a wish beats them") {
  const Hours night = must(parse_hours("22-7"));
  CHECK_FALSE(reason_to_pause(night, "22-7", 22, false).has_value());
  CHECK_FALSE(reason_to_pause(night, "22-7", 6, false).has_value());
  REQUIRE(reason_to_pause(night, "22-7", 7, false).has_value());
  CHECK_THAT(*reason_to_pause(night, "22-7", 12, false), Contains("22-7"));
  CHECK_THAT(*reason_to_pause(night, "22-7", 23, true), Contains("shoal pause"));
  for (int hour = 0; hour < 24; ++hour) {
    CHECK_FALSE(reason_to_pause(Hours{}, "", hour, false).has_value());
  }
  CHECK(local_hour() >= 0);
  CHECK(local_hour() < 24);
}

TEST_CASE("pause: a wish stands in the run folder until it is taken back") {
  const shoal::tests::TempFolder place;
  const RunFolder folder(place.path());
  std::vector<std::string> said;
  PauseWatch watch(Team::config(2, 0, {}), folder,
                   Log([&](Level, std::string_view s) { said.emplace_back(s); }));
  CHECK_FALSE(watch.paused());
  REQUIRE(ask_to_pause(folder, true).ok());
  CHECK(watch.paused());
  CHECK(watch.paused());
  REQUIRE(ask_to_pause(folder, false).ok());
  CHECK_FALSE(watch.paused());
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[0], Contains("pausing"));
}

}  // namespace shoal::node::tests
