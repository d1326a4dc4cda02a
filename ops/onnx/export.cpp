#include "ops/onnx/export.h"

#include <vector>

#include "ops/onnx/graph.h"

namespace shoal::ops::onnx {
namespace {

template <typename T>
ModelTensor tensor_of(const T& entry, std::span<const float> array) {
  return {entry.name, Shape(entry.shape),
          array.subspan(static_cast<std::size_t>(entry.offset),
                        static_cast<std::size_t>(entry.elements))};
}

}  // namespace

Result<Bytes> export_model(const Architecture& architecture, const std::string& name,
                           std::span<const float> parameters, std::span<const float> buffers) {
  const ParamMap& map = architecture.map();
  SHOAL_CHECK(parameters.size() == map.flat_size() && buffers.size() == map.buffer_size(),
              "whole arrays of this model");
  Graph graph;
  graph.input("input", architecture.input());
  std::string value = "input";
  std::size_t index = 0;
  for (const auto& node : architecture.nodes()) {
    std::vector<ModelTensor> params;
    for (std::size_t i = 0; i < node.plan.params.size(); ++i) {
      const std::size_t first = map.first_tied(node.first_param + i);  // tied tensors are one
      params.push_back(tensor_of(map.params()[first], parameters));
    }
    std::vector<ModelTensor> held;
    for (std::size_t i = 0; i < node.plan.buffers.size(); ++i) {
      held.push_back(tensor_of(map.buffers()[node.first_buffer + i], buffers));
    }
    graph.enter(node.name);
    auto made = node.layer->write_onnx({&graph, &node.plan, node.input.shape, params, held}, value);
    if (!made.ok()) {
      return in_layer(made.error(), index, node.type, node.name);
    }
    value = std::move(made).value();
    ++index;
  }
  graph.output("output", architecture.output(), value);
  return graph.finish(name);
}

}  // namespace shoal::ops::onnx
