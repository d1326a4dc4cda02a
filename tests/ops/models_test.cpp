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
  // Norms have a weight and a bias a channel; see models/resnet.h.
  CHECK(model("resnet8", {3, 32, 32}, 10)->map().parameter_count() == 78042);
  CHECK(model("resnet18", {3, 32, 32}, 10)->map().parameter_count() == 11173962);
}

TEST_CASE("models name their parameters as PyTorch modules of the same build do") {
  const auto cnn = model("cnn", {1, 28, 28}, 10);
  REQUIRE(cnn->map().find("conv2.weight") != nullptr);
  CHECK(cnn->map().find("conv2.weight")->shape == std::vector<std::int64_t>{64, 32, 5, 5});
  CHECK(cnn->map().find("fc1.weight")->shape == std::vector<std::int64_t>{512, 3136});
  const auto resnet = model("resnet18", {3, 32, 32}, 100);
  CHECK(resnet->map().find("layer1.0.conv1.weight")->shape ==
        std::vector<std::int64_t>{64, 64, 3, 3});
  CHECK(resnet->map().find("layer2.0.downsample.0.weight")->shape ==
        std::vector<std::int64_t>{128, 64, 1, 1});
  CHECK(resnet->map().find("layer4.1.gn2.bias")->shape == std::vector<std::int64_t>{512});
  CHECK(resnet->map().find("layer1.0.downsample.0.weight") == nullptr);
}

TEST_CASE("a model of images refuses what is none, in words") {
  for (const char* name : {"cnn", "lenet5", "resnet8", "resnet18"}) {
    const auto made = make_architecture(name, Options::defaults(find_model(name).value()->options),
                                        {{784}, false}, 10);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Code::kConfig);
    CHECK(made.error().message.find("[784]") != std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::ops
