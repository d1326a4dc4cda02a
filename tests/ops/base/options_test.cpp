#include "ops/base/options.h"

#include <cmath>
#include <limits>

#include "ops/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/seed.h"

namespace shoal {
namespace {

OptionSpec spec(OptionType type, OptionValue value) {
  OptionSpec s;
  s.name = "key";
  s.type = type;
  s.default_value = std::move(value);
  return s;
}

TEST_CASE("each type parses what it prints, floats to the bit") {
  Rng rng(tests::test_seed(3), 0);
  const auto round_trip = [](const OptionSpec& s, const OptionValue& value) {
    const auto parsed = parse_option(s, option_text(value));
    REQUIRE(parsed.ok());
    CHECK(*parsed == value);
  };
  round_trip(spec(OptionType::kBool, false), true);
  round_trip(spec(OptionType::kInt, std::int64_t{0}), std::numeric_limits<std::int64_t>::min());
  round_trip(spec(OptionType::kString, std::string()), std::string("a b"));
  round_trip(spec(OptionType::kIntList, std::vector<std::int64_t>()),
             std::vector<std::int64_t>{784, -3, 10});
  round_trip(spec(OptionType::kIntList, std::vector<std::int64_t>()), std::vector<std::int64_t>{});
  round_trip(spec(OptionType::kStringList, std::vector<std::string>()),
             std::vector<std::string>{"a", "b c"});
  round_trip(spec(OptionType::kStringList, std::vector<std::string>()),
             std::vector<std::string>{"a, b", "", " c\" ", "\\n\n\t[x]"});
  round_trip(spec(OptionType::kDuration, Duration(0)), from_seconds(1.5));
  for (int i = 0; i < 200; ++i) {
    round_trip(spec(OptionType::kFloat, 0.0),
               std::ldexp(rng.normal(), static_cast<int>(rng.below(200)) - 100));
    // Up to 2^51 ns, 26 days: a quotient and a product in double are off by 2^-52 at most, which is
    // less than half a nanosecond.
    round_trip(spec(OptionType::kDuration, Duration(0)),
               Duration(static_cast<std::int64_t>(rng.next_u64() >> (13 + rng.below(40)))));
  }
}

TEST_CASE("durations have units") {
  CHECK(*parse_duration("250ms") == std::chrono::milliseconds(250));
  CHECK(*parse_duration("2s") == std::chrono::seconds(2));
  CHECK(*parse_duration("1.5m") == std::chrono::seconds(90));
  CHECK(*parse_duration("1h") == std::chrono::hours(1));
  CHECK(*parse_duration("8.2ms") == std::chrono::microseconds(8200));  // the product falls short
  for (const char* bad : {"", "5", "s", "-1s", "1 s", "1e20s", "nans", "1x"}) {
    INFO(bad);
    CHECK_FALSE(parse_duration(bad).ok());
  }
}

TEST_CASE("lists are read with and without brackets and quotes") {
  const auto list = spec(OptionType::kStringList, std::vector<std::string>());
  const auto read = [&](const char* text) {
    return std::get<std::vector<std::string>>(*parse_option(list, text));
  };
  CHECK(read("a,b c") == std::vector<std::string>{"a", "b c"});
  CHECK(read("[ a , \"b, c\" ]") == std::vector<std::string>{"a", "b, c"});
  CHECK(read("[]").empty());
  CHECK(read("").empty());
  for (const char* bad : {"\"a", "[\"a\" b]", "[\"\\x\"]", "[\"a\\\"]"}) {
    INFO(bad);
    CHECK_FALSE(parse_option(list, bad).ok());
  }
}

TEST_CASE("what does not fit is refused in words that name the key") {
  auto bounded = spec(OptionType::kInt, std::int64_t{5});
  bounded.minimum = 1;
  bounded.maximum = 10;
  CHECK(parse_option(bounded, "10").ok());
  for (const char* bad : {"0", "11", "1.5", "", "ten", "99999999999999999999"}) {
    INFO(bad);
    const auto parsed = parse_option(bounded, bad);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().code == Code::kConfig);
    CHECK(parsed.error().message.find("key") != std::string::npos);
  }
  CHECK_FALSE(check_option(bounded, 5.0).ok());
  const auto real = spec(OptionType::kFloat, 0.0);
  CHECK_FALSE(parse_option(real, "nan").ok());
  CHECK_FALSE(parse_option(real, "inf").ok());
  auto list = spec(OptionType::kIntList, std::vector<std::int64_t>());
  list.minimum = 1;
  CHECK_FALSE(parse_option(list, "[4, 0]").ok());
}

TEST_CASE("a wrong choice is answered with the nearest") {
  auto choice = spec(OptionType::kString, std::string("cosine"));
  choice.choices = {"constant", "cosine"};
  const auto wrong = check_option(choice, std::string("cosin"));
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("\"cosine\"") != std::string::npos);
  CHECK(nearest("zzzzzz", {"constant", "cosine"}).empty());
  CHECK(nearest("momentun", {"momentum", "nesterov"}) == "momentum");
}

TEST_CASE("defaults fill a table") {
  const auto options = Options::defaults({spec(OptionType::kInt, std::int64_t{5})});
  CHECK(options.get_int("key") == 5);
  CHECK(options.values().size() == 1);
}

}  // namespace
}  // namespace shoal
