#include "ops/architecture.h"
#include "tests/support/catch.h"

// Models by name: parameter counts as their papers say, and names as PyTorch's.
namespace shoal::ops {
namespace {

std::shared_ptr<const Architecture> model(const std::string& name, const Shape& input,
                                          std::int64_t classes) {
  const auto* entry = find_model(name).value();
  auto made = make_architecture(name, Options::defaults(entry->options), {input, false}, classes);
  REQUIRE(made.ok());
  return *made;
}

TEST_CASE("models have the numbers of parameters that their papers give") {
  // 784 * 10 + 10.
  CHECK(model("logistic", {28, 28}, 10)->map().parameter_count() == 7850);
  CHECK(model("2nn", {28, 28}, 10)->map().parameter_count() == 199210);
  for (const Shape& image : {Shape{28, 28}, Shape{1, 28, 28}}) {
    CHECK(model("cnn", image, 10)->map().parameter_count() == 1663370);
    CHECK(model("lenet5", image, 10)->map().parameter_count() == 61706);
  }
  CHECK(model("lenet5", {1, 32, 32}, 10)->map().parameter_count() == 61706);
}

TEST_CASE("models name their parameters as PyTorch modules of the same build do") {
  const auto cnn = model("cnn", {1, 28, 28}, 10);
  REQUIRE(cnn->map().find("conv2.weight") != nullptr);
  CHECK(cnn->map().find("conv2.weight")->shape == std::vector<std::int64_t>{64, 32, 5, 5});
  CHECK(cnn->map().find("fc1.weight")->shape == std::vector<std::int64_t>{512, 3136});
}

TEST_CASE("a model of images refuses what is none, in words") {
  for (const char* name : {"cnn", "lenet5"}) {
    const auto made = make_architecture(name, {}, {{784}, false}, 10);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Code::kConfig);
    CHECK(made.error().message.find("[784]") != std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::ops
