#include "ops/base/result.h"

#include "tests/support/catch.h"

namespace shoal {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) {
    return data_error("odd");
  }
  return x / 2;
}

Result<int> quarter(int x) {
  SHOAL_ASSIGN(const int once, half(x));
  SHOAL_TRY(half(once));
  return half(once);
}

TEST_CASE("a result is a value or an error, and errors travel") {
  CHECK(*quarter(12) == 3);
  REQUIRE_FALSE(quarter(6).ok());
  CHECK(quarter(6).error().message == "odd");
  CHECK_FALSE(quarter(3).ok());
  CHECK(Status().ok());
  CHECK_FALSE(Status(config_error("x")).ok());
}

TEST_CASE("exit codes are those that are documented") {
  CHECK(exit_code(Code::kConfig) == 2);
  CHECK(exit_code(Code::kData) == 3);
  CHECK(exit_code(Code::kNetwork) == 4);
  CHECK(exit_code(Code::kBadFrame) == 4);
  CHECK(exit_code(Code::kDevice) == 5);
  CHECK(exit_code(Code::kInternal) == 1);
  CHECK(exit_code(Code::kCancelled) == 0);
}

}  // namespace
}  // namespace shoal
