#pragma once

#include <memory>
#include <vector>

#include "ops/memory.h"
#include "ops/model.h"
#include "tests/ops/support/random.h"
#include "tests/support/catch.h"

namespace shoal::ops::tests {

/// A batch of an architecture's inputs and of targets for softmax cross-entropy.
struct Batch {
  std::vector<float> x;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> y;
  Shape shape;
  bool index;

  Batch(const Architecture& architecture, std::size_t samples, Rng rng)
      : shape(architecture.input().shape.with_batch(samples)), index(architecture.input().index) {
    x = random_vector<float>(rng, index ? 0 : shape.elements());
    tokens.resize(index ? shape.elements() : 0);
    const Shape& output = architecture.output().shape;
    y.resize(samples * output.rows());
    for (auto& target : y) {
      target = static_cast<std::int32_t>(rng.below(output.cols()));
    }
  }
  [[nodiscard]] ConstTensorView inputs() const {
    return index ? ConstTensorView(host_view(tokens.data(), shape)) : host_view(x.data(), shape);
  }
  [[nodiscard]] ConstTensorView targets() const {
    return host_view(y.data(), {static_cast<std::int64_t>(y.size())});
  }
};

/// A model's layers one by one, in a spec. Errors are the test's.
inline std::shared_ptr<const Architecture> architecture_of(const Port& input,
                                                           std::vector<LayerSpec> layers) {
  ModelSpec spec;
  spec.input = input;
  spec.layers = std::move(layers);
  auto made = Architecture::make(spec);
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return *made;
}

/// Blocks whose memory is much more than what leaves them, and a last layer.
inline std::shared_ptr<const Architecture> deep_blocks(std::size_t blocks) {
  const LayerSpec widen{
      "linear", "a", {{"out", std::int64_t{40}}, {"activation", std::string("relu")}}};
  const LayerSpec narrow{"linear", "b", {{"out", std::int64_t{8}}}};
  std::vector<LayerSpec> layers(blocks, {"residual", "", {}, {widen, narrow}});
  layers.push_back({"linear", "", {{"out", std::int64_t{3}}}});
  return architecture_of({{8}, false}, std::move(layers));
}

}  // namespace shoal::ops::tests
