#include "ops/architecture.h"

#include "tests/support/catch.h"

namespace shoal::ops {
namespace {

LayerSpec linear(std::int64_t out, const std::string& name = {}) {
  return {"linear", name, {{"out", out}}};
}

std::string refused(const ModelSpec& spec) {
  const auto made = Architecture::make(spec);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Code::kConfig);
  return made.error().message;
}

bool says(const std::string& sentence, const std::string& part) {
  INFO(sentence);
  return sentence.find(part) != std::string::npos;
}

TEST_CASE("a chain is laid out with PyTorch's names and shapes") {
  ModelSpec spec{{{6}, false}, {linear(5, "fc1"), {"relu", "", {}}, linear(3)}, {}};
  spec.loss = "softmax-cross-entropy";
  const auto made = Architecture::make(spec);
  REQUIRE(made.ok());
  const auto& map = (*made)->map();
  REQUIRE(map.params().size() == 4);
  CHECK(map.find("fc1.weight")->shape == std::vector<std::int64_t>{5, 6});
  CHECK(map.find("fc1.bias")->shape == std::vector<std::int64_t>{5});
  CHECK(map.find("2.weight")->shape == std::vector<std::int64_t>{3, 5});
  CHECK((*made)->output() == Port{{3}, false});
  CHECK(map.parameter_count() == 6 * 5 + 5 + 5 * 3 + 3);
}

TEST_CASE("a model that does not fit is refused, naming the layer") {
  const std::string loss = "softmax-cross-entropy";
  CHECK(says(refused({{{6}, false}, {linear(5, "a"), {"rleu", "act", {}}}, loss}),
             "layer 2 (rleu \"act\")"));
  CHECK(says(refused({{{6}, false}, {linear(0, "a")}, loss}), "layer 1 (linear \"a\"): out"));
  CHECK(says(refused({{{6}, false}, {{"linear", "a", {{"outs", std::int64_t{3}}}}}, loss}),
             "did you mean \"out\""));
  CHECK(says(refused({{{6}, false}, {{"linear", "a", {{"out", 3.0}}}}, loss}), "whole number"));
  CHECK(says(refused({{{6}, true}, {linear(5, "a")}, loss}), "integers"));
  CHECK(says(refused({{{}, false}, {linear(5, "a")}, loss}), "layer 1"));
  CHECK(says(refused({{{6}, false}, {linear(5, "a"), linear(5, "a")}, loss}), "a.weight"));
  CHECK(says(refused({{{6}, false}, {}, loss}), "at least one layer"));
  CHECK(says(refused({{{6}, false}, {linear(5)}, "hinge"}), "hinge"));
}

TEST_CASE("every model of the registry is built from its defaults") {
  for (const auto& entry : model_registry()) {
    INFO(entry.name);
    const auto options = Options::defaults(entry.options);
    auto made = make_architecture(entry.name, options, {{28, 28}, false}, 10);
    const bool of_images = made.ok();
    if (!of_images) {
      made = make_architecture(entry.name, options, {{32}, true}, 10);  // texts
    }
    REQUIRE(made.ok());
    CHECK((*made)->output().shape == (of_images ? Shape{10} : Shape{32, 10}));
    CHECK((*made)->map().parameter_count() > 0);
  }
  CHECK_FALSE(find_model("mpl").ok());
}

TEST_CASE("mlp fits its data or says which end does not") {
  Options options = Options::defaults(find_model("mlp").value()->options);
  const auto make = [&](std::vector<std::int64_t> layers, Shape input, std::int64_t classes) {
    options.set("layers", std::move(layers));
    return make_architecture("mlp", options, {input, false}, classes);
  };
  const auto flat = make({784, 256, 128, 10}, {784}, 10);
  const auto image = make({784, 256, 128, 10}, {28, 28}, 10);
  REQUIRE((flat.ok() && image.ok()));
  CHECK((*flat)->map().parameter_count() == 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
  CHECK((*flat)->map().model_hash() == (*image)->map().model_hash());
  CHECK((*flat)->map().params()[0].name == "fc1.weight");
  CHECK(says(make({783, 10}, {28, 28}, 10).error().message, "784"));
  CHECK(says(make({784, 11}, {28, 28}, 10).error().message, "10 classes"));
  CHECK(says(make({784}, {784}, 784).error().message, "two widths"));
}

TEST_CASE("the ranges of layers cover the flat space once, padding of large tensors included") {
  Options options = Options::defaults(find_model("mlp").value()->options);
  const auto made = make_architecture("mlp", options, {{784}, false}, 10);
  REQUIRE(made.ok());
  Ranges all;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < (*made)->nodes().size(); ++i) {
    const auto ranges = (*made)->layer_ranges(i, i + 1);
    CHECK(ranges.intersect(all).empty());
    sum += ranges.size();
    for (const auto& range : ranges.list()) {
      all.add(range);
    }
  }
  CHECK(all.size() == sum);
  for (const auto& param : (*made)->map().params()) {
    CHECK(all.contains(param.offset));
    CHECK(all.contains(param.offset + param.elements - 1));
  }
  CHECK((*made)->layer_ranges(0, (*made)->nodes().size()) == all);
}

}  // namespace
}  // namespace shoal::ops
