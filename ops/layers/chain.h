#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ops/layer.h"

namespace shoal::ops {

/// Layers one after the other inside a layer, which passes them their share of its Ctx.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<NamedLayer> layers) : layers_(std::move(layers)) {}

  [[nodiscard]] bool empty() const { return layers_.empty(); }

  /// Adds what the layers have to `plan` (parameters, buffers, memory, work, a plan each) and gives
  /// the last one's output. Chains are added in the order of their places.
  /// Errors: kConfig, naming the layer.
  [[nodiscard]] Result<Port> add_to(LayerPlan& plan, const Port& input) const;

  /// As Layer's. `first` is the number of inner layers of chains that were added before. The last
  /// layer is the one that adds.
  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x, Saved& saved,
                                           std::size_t first) const;
  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy, Saved& saved,
                                            std::size_t first) const;
  void step(const Ctx& ctx, Saved& saved, std::size_t first) const;
  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx, std::string x,
                                               std::size_t first) const;
  [[nodiscard]] std::size_t size() const { return layers_.size(); }

 private:
  std::vector<NamedLayer> layers_;
};

}  // namespace shoal::ops
