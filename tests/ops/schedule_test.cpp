#include "ops/schedule.h"

#include "tests/support/catch.h"

namespace shoal::ops {
namespace {

Options with(std::initializer_list<std::pair<const char*, OptionValue>> values) {
  Options options = Options::defaults(schedule_options());
  for (const auto& [name, value] : values) {
    options.set(name, value);
  }
  return options;
}

TEST_CASE("a constant rate after a linear warm-up") {
  const auto s = *make_schedule(with({{"lr", 0.4}, {"warmup_steps", std::int64_t{4}}}), 100);
  CHECK(s.at(0) == Approx(0.1));
  CHECK(s.at(3) == Approx(0.4));
  CHECK(s.at(4) == 0.4);
  CHECK(s.at(1000000) == 0.4);
}

TEST_CASE("a cosine goes from lr to lr_min and stays there") {
  const auto s = *make_schedule(with({{"lr", 1.0},
                                      {"lr_min", 0.2},
                                      {"schedule", std::string("cosine")},
                                      {"warmup_steps", std::int64_t{10}}}),
                                110);
  CHECK(s.at(10) == Approx(1.0));
  CHECK(s.at(60) == Approx(0.6));  // half-way
  CHECK(s.at(110) == Approx(0.2));
  CHECK(s.at(5000) == Approx(0.2));
  for (std::uint64_t step = 10; step < 110; ++step) {
    REQUIRE(s.at(step + 1) < s.at(step));
  }
}

TEST_CASE("a line goes from lr to lr_min and stays there") {
  const auto s = *make_schedule(with({{"lr", 1.0},
                                      {"lr_min", 0.2},
                                      {"schedule", std::string("linear")},
                                      {"warmup_steps", std::int64_t{10}}}),
                                110);
  CHECK(s.at(4) == Approx(0.5));
  CHECK(s.at(10) == 1.0);
  CHECK(s.at(35) == Approx(0.8));  // a quarter
  CHECK(s.at(60) == Approx(0.6));
  CHECK(s.at(110) == Approx(0.2));
  CHECK(s.at(5000) == Approx(0.2));
}

TEST_CASE("steps drop the rate, not below lr_min") {
  const auto s = *make_schedule(with({{"lr", 1.0},
                                      {"lr_min", 0.05},
                                      {"schedule", std::string("step")},
                                      {"step_every", std::int64_t{10}},
                                      {"step_factor", 0.5}}),
                                100);
  CHECK(s.at(9) == 1.0);
  CHECK(s.at(10) == 0.5);
  CHECK(s.at(25) == 0.25);
  CHECK(s.at(~std::uint64_t{0}) == 0.05);
  // A rate that does not move any more is found without 2^64 products.
  auto same = s;
  same.step_factor = 1;
  CHECK(same.at(~std::uint64_t{0}) == 1.0);
  auto tiny = s;
  tiny.lr_min = 0;
  tiny.step_factor = 0.9;
  CHECK(tiny.at(~std::uint64_t{0}) < 1e-300);
}

TEST_CASE("rates that cannot be are refused in words") {
  CHECK_FALSE(make_schedule(with({{"lr", 0.1}, {"lr_min", 0.2}}), 10).ok());
  const auto short_run = make_schedule(
      with({{"schedule", std::string("cosine")}, {"warmup_steps", std::int64_t{10}}}), 10);
  REQUIRE_FALSE(short_run.ok());
  CHECK_FALSE(
      make_schedule(with({{"schedule", std::string("linear")}, {"warmup_steps", std::int64_t{11}}}),
                    10)
          .ok());
  CHECK(short_run.error().message.find("warmup_steps") != std::string::npos);
}

}  // namespace
}  // namespace shoal::ops
