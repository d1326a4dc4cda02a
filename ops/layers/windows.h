#pragma once

#include <vector>

#include "ops/backend.h"
#include "ops/layer.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {

/// What the pooling layers share: square windows over [C, H, W].
struct Windows {
  std::size_t kernel;
  std::size_t stride;
  std::size_t padding;

  explicit Windows(const Options& options);
  static std::vector<OptionSpec> options();
  static std::vector<LayerExample> examples();

  /// The output of an input. Errors: kConfig: no image, padding that makes windows of nothing, a
  /// window that does not fit.
  [[nodiscard]] Result<Port> output(const Port& input) const;
  /// Requires: x [N, C, H, W] that was planned.
  [[nodiscard]] PoolSizes sizes(const Shape& x) const;
  /// Attributes of an ONNX pooling node.
  [[nodiscard]] std::vector<onnx::Attribute> attributes() const;
  /// y [N, C, H', W'].
  [[nodiscard]] Shape result(const Shape& x) const;
};

}  // namespace shoal::ops
