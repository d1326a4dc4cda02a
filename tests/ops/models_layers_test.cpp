#include "ops/models/layers.h"
#include "tests/support/catch.h"

namespace shoal::ops::tests {
namespace {

Result<std::shared_ptr<const Architecture>> build(std::vector<std::string> layers,
                                                  Shape input = {28, 28},
                                                  std::int64_t classes = 10) {
  const auto* entry = find_model("layers").value();
  Options options = Options::defaults(entry->options);
  options.set("layers", std::move(layers));
  return make_architecture("layers", options, {input, false}, classes);
}

std::string refusal(std::vector<std::string> layers) {
  const auto made = build(std::move(layers));
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Code::kConfig);
  return made.error().message;
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a model is a list of layers") {
  const auto made =
      build({"flatten", "linear 64 activation=relu name=hidden", "relu", " linear  10  false "});
  REQUIRE(made.ok());
  const auto& architecture = **made;
  REQUIRE(architecture.nodes().size() == 4);
  CHECK(architecture.nodes()[0].type == "flatten");
  CHECK(architecture.nodes()[1].name == "hidden");
  CHECK(architecture.output().shape == Shape{10});
  CHECK(architecture.map().parameter_count() == 784 * 64 + 64 + 64 * 10);
  CHECK(architecture.map().find("hidden.weight") != nullptr);
  CHECK(architecture.map().find("3.weight") != nullptr);
  CHECK(architecture.map().find("3.bias") == nullptr);  // the second value is `bias`
}

TEST_CASE("the defaults of a layer list are a model") {
  const auto* entry = find_model("layers").value();
  CHECK(make_architecture("layers", Options::defaults(entry->options), {{28, 28}, false}, 10).ok());
}

TEST_CASE("a layer that cannot be read is named by its position and its text") {
  CHECK(says(refusal({"flatten", "linaer 10"}), "layer 2 (\"linaer 10\")"));
  CHECK(says(refusal({"flatten", "linaer 10"}), "did you mean \"linear\"?"));
  CHECK(says(refusal({"flatten", "linear ten"}), "out must be a whole number, not \"ten\""));
  CHECK(says(refusal({"flatten", "linear 0"}), "out must be at least 1"));
  CHECK(says(refusal({"flatten", "linear 10 activaton=relu"}), "did you mean \"activation\"?"));
  CHECK(says(refusal({"flatten", "linear 10 activation=rleu"}), "layer 2"));
  CHECK(says(refusal({"flatten 3", "linear 10"}), "layer 1 (\"flatten 3\"): \"3\" is one value"));
  CHECK(says(refusal({"flatten", "linear out=10 out=11"}), "out is said twice"));
  CHECK(says(refusal({"flatten", "linear 10 out=11"}), "out is said twice"));
  CHECK(says(refusal({"flatten", "linear bias=true 10"}), "too many"));
  CHECK(says(refusal({"flatten", "linear 10 name=a.b"}), "without dots"));
  CHECK(says(refusal({"flatten", "linear 10 name="}), "without dots"));
  CHECK(says(refusal({"flatten", "", "linear 10"}), "layer 2 (\"\"): a layer begins"));
  CHECK(says(refusal({"flatten", "linear 10 =3"}), "layer 2"));
  CHECK(says(refusal({}), "at least one layer"));
}

TEST_CASE("layers within a layer stand in braces") {
  const auto made = build({"flatten", "linear 5",
                           "residual relu {linear 7 activation=relu name=a;residual {linear 7} } "
                           "{linear 7 bias=false}",
                           "linear 10"});
  REQUIRE(made.ok());
  const auto& map = (*made)->map();
  CHECK(map.find("2.a.weight") != nullptr);
  CHECK(map.find("2.1.0.weight")->elements == 49);
  CHECK(map.find("2.shortcut.0.weight")->elements == 35);
  CHECK(map.parameter_count() == 784 * 5 + 5 + (5 * 7 + 7) + (7 * 7 + 7) + 5 * 7 + 80);

  CHECK(says(refusal({"flatten", "residual {linear 5; linaer 5}", "linear 10"}),
             "inner layer 2 (\" linaer 5\"): there is no layer"));
  CHECK(says(refusal({"flatten", "residual {linear 5", "linear 10"}), "not closed"));
  CHECK(says(refusal({"flatten", "residual linear 5}", "linear 10"}), "closes nothing"));
  CHECK(says(refusal({"flatten", "residual {linear 5}x", "linear 10"}), "{a; b}"));
  CHECK(says(refusal({"flatten", "residual {} ", "linear 10"}), "begins with its type"));
  CHECK(says(refusal({"flatten", "residual {relu} {relu} {relu}", "linear 10"}), "shortcut"));
  CHECK(says(refusal({"flatten", "linear 10 {relu}"}), "holds no other layers"));
  std::string deep = "relu";
  for (int i = 0; i < 9; ++i) {
    deep = "residual {" + deep + "}";
  }
  CHECK(says(refusal({"flatten", deep, "linear 10"}), "deep"));
}

TEST_CASE("two layers of one name, and a last layer that is no class each, are refused") {
  CHECK(says(refusal({"flatten", "linear 10 name=a", "linear 10 name=a"}), "a.weight"));
  const auto text = refusal({"flatten", "linear 12"});
  CHECK(says(text, "the last layer gives [12], but the data has 10 classes"));
}

}  // namespace
}  // namespace shoal::ops::tests
