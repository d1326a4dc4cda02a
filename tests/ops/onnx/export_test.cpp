#include "ops/onnx/export.h"

#include <algorithm>
#include <string>

#include "ops/onnx/graph.h"
#include "tests/support/catch.h"

// What the files compute is judged by onnxruntime, in tests/parity.
namespace shoal::ops::onnx {
namespace {

std::size_t count(ByteSpan bytes, std::string_view word) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t found = 0;
  for (auto at = rest.find(word); at != std::string_view::npos; at = rest.find(word)) {
    ++found;
    rest.remove_prefix(at + word.size());
  }
  return found;
}

Result<Bytes> export_spec(const ModelSpec& spec) {
  SHOAL_ASSIGN(const auto architecture, Architecture::make(spec));
  return export_model(*architecture, "net", architecture->initial_parameters(1),
                      architecture->initial_buffers());
}

TEST_CASE("every layer of the registry has an ONNX form") {
  std::size_t layers = 0;
  for (const auto& entry : layer_registry()) {
    INFO(entry.type);
    for (const auto& example : entry.examples) {
      ModelSpec spec;
      spec.input = example.input;
      spec.layers.push_back({entry.type, "", example.options, example.inner, example.shortcut});
      const auto made = export_spec(spec);
      INFO((made.ok() ? std::string() : made.error().message));
      REQUIRE(made.ok());
      CHECK(count(made->span(), "batch") == 2);  // input and output
    }
    ++layers;
  }
  CHECK(layers > 0);
}

TEST_CASE("weights keep their names, and a tied one stands once") {
  ModelSpec spec;
  spec.input = {{4}, true};
  spec.layers = {
      {"embedding", "wte", {{"vocabulary", std::int64_t{5}}, {"width", std::int64_t{3}}}},
      {"linear", "head", {{"out", std::int64_t{5}}}}};
  const auto apart = export_spec(spec);
  spec.layers[1].ties = {{"weight", "wte.weight"}};
  const auto tied = export_spec(spec);
  REQUIRE((apart.ok() && tied.ok()));
  CHECK(count(apart->span(), "head.weight") == 2);  // the tensor and who takes it
  CHECK(count(tied->span(), "head.weight") == 0);
  CHECK(count(tied->span(), "head.bias") == 2);
  CHECK(tied->size() + 5 * 3 * sizeof(float) < apart->size());
}

/// A layer that says nothing of ONNX.
class Silent final : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override {
    LayerPlan plan;
    plan.output = input;
    return plan;
  }
  [[nodiscard]] Result<TensorView> forward(const Ctx& /*ctx*/, TensorView x,
                                           Saved& /*saved*/) const override {
    return x;
  }
  [[nodiscard]] Result<TensorView> backward(const Ctx& /*ctx*/, TensorView dy,
                                            Saved& /*saved*/) const override {
    return dy;
  }
};

TEST_CASE("a layer without an ONNX form says so") {
  Graph graph;
  const auto made = Silent().write_onnx({&graph, nullptr, {1}, {}, {}}, "input");
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Code::kConfig);
  CHECK(made.error().message == "has no ONNX form; export safetensors");
}

}  // namespace
}  // namespace shoal::ops::onnx
