#include "ops/onnx/graph.h"

#include <cmath>
#include <numbers>

// Numbers of fields and types are those of onnx.proto (IR version 8).
namespace shoal::ops::onnx {
namespace {

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kFloat = 1;  // TensorProto.DataType
constexpr std::int64_t kInt64 = 7;
constexpr std::size_t kFileBytesMax = (std::size_t{1} << 31U) - 1;

/// AttributeProto: which field holds the value, and the number of its type.
struct Write {
  Message* out;
  void operator()(std::int64_t value) const {
    out->integer(3, value);
    out->integer(20, 2);
  }
  void operator()(float value) const {
    out->real(2, value);
    out->integer(20, 1);
  }
  void operator()(const std::string& value) const {
    out->text(4, value);
    out->integer(20, 3);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const auto value : values) {
      out->integer(8, value);
    }
    out->integer(20, 7);
  }
};

}  // namespace

Message Graph::value(const std::string& name, const Port& port) {
  Message shape;
  Message batch;
  batch.text(2, "batch");
  shape.message(1, batch);
  for (const auto dim : port.shape.dims()) {
    Message size;
    size.integer(1, dim);
    shape.message(1, size);
  }
  Message tensor;
  tensor.integer(1, port.index ? kInt64 : kFloat);
  tensor.message(2, shape);
  Message type;
  type.message(1, tensor);
  Message out;
  out.text(1, name);
  out.message(2, type);
  return out;
}

std::string Graph::fresh(const std::string& word) {
  return layer_ + "/" + word + "_" + std::to_string(next_++);
}

std::string Graph::node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<Attribute>& attributes) {
  std::string name = fresh(op);
  add_node(op, inputs, name, attributes);
  return name;
}

void Graph::output(const std::string& name, const Port& port, const std::string& from) {
  add_node("Identity", {from}, name, {});
  graph_.message(12, value(name, port));
}

void Graph::add_node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output, const std::vector<Attribute>& attributes) {
  Message node;
  for (const auto& input : inputs) {
    node.text(1, input);
  }
  node.text(2, output);
  node.text(3, output);
  node.text(4, op);
  for (const auto& [key, value] : attributes) {
    Message attribute;
    attribute.text(1, key);
    std::visit(Write{&attribute}, value);
    node.message(5, attribute);
  }
  graph_.message(1, node);
}

void Graph::initializer(const std::string& name, std::span<const std::int64_t> dims,
                        std::int64_t data_type, ByteSpan raw) {
  Message tensor;
  for (const auto dim : dims) {
    tensor.integer(1, dim);
  }
  tensor.integer(2, data_type);
  tensor.text(8, name);
  tensor.bytes(9, raw);
  graph_.message(5, tensor);
}

std::string Graph::tensor(const ModelTensor& tensor) {
  if (written_.insert(tensor.name).second) {
    initializer(tensor.name, tensor.shape.dims(), kFloat, std::as_bytes(tensor.values));
  }
  return tensor.name;
}

std::string Graph::reals(const Shape& shape, std::span<const float> values) {
  const std::string name = fresh("constant");
  initializer(name, shape.dims(), kFloat, std::as_bytes(values));
  return name;
}

std::string Graph::real(double value) {
  const float rounded[] = {static_cast<float>(value)};
  return reals(Shape{}, rounded);
}

std::string Graph::integer(std::int64_t value) {
  const std::string name = fresh("constant");
  initializer(name, {}, kInt64, std::as_bytes(std::span(&value, 1)));
  return name;
}

std::string Graph::integers(const std::vector<std::int64_t>& values) {
  const std::string name = fresh("constant");
  const std::int64_t count[] = {static_cast<std::int64_t>(values.size())};
  initializer(name, count, kInt64, std::as_bytes(std::span(values)));
  return name;
}

std::string Graph::reshape(const std::string& x, const Shape& sample) {
  std::vector<std::int64_t> dims{-1};
  dims.insert(dims.end(), sample.dims().begin(), sample.dims().end());
  return node("Reshape", {x, integers(dims)});
}

std::string Graph::activate(const std::string& x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
    case Activation::kSlope:  // only on the way back
      return x;
    case Activation::kRelu:
      return node("Relu", {x});
    case Activation::kTanh:
      return node("Tanh", {x});
    case Activation::kSigmoid:
      return node("Sigmoid", {x});
    case Activation::kSilu:
      return node("Mul", {x, node("Sigmoid", {x})});
    case Activation::kGelu:
      return half_of_more(x, node("Erf", {node("Mul", {x, real(std::sqrt(0.5))})}));
    case Activation::kGeluTanh: {
      const std::string cube = node("Mul", {node("Mul", {x, x}), x});
      const std::string sum = node("Add", {x, node("Mul", {cube, real(0.044715)})});
      const double scale = std::sqrt(2 / std::numbers::pi);
      return half_of_more(x, node("Tanh", {node("Mul", {sum, real(scale)})}));
    }
  }
  return x;
}

std::string Graph::half_of_more(const std::string& x, const std::string& t) {
  return node("Mul", {node("Mul", {x, real(0.5)}), node("Add", {t, real(1)})});
}

std::string Graph::linear(const std::string& x, const ModelTensor& weight,
                          const ModelTensor* bias) {
  const std::string y = node("MatMul", {x, node("Transpose", {tensor(weight)})});
  return bias == nullptr ? y : node("Add", {y, tensor(*bias)});
}

Result<Bytes> Graph::finish(const std::string& name) {
  graph_.text(2, name);
  Message opset;
  opset.text(1, "");
  opset.integer(2, kOpset);
  Message model;
  model.integer(1, kIrVersion);
  model.text(2, "shoal");
  model.message(7, graph_);
  model.message(8, opset);
  if (model.span().size() > kFileBytesMax) {
    return config_error("the model takes " + std::to_string(model.span().size()) +
                        " bytes, more than an ONNX file may have (2 GiB); export safetensors");
  }
  return model.take();
}

}  // namespace shoal::ops::onnx
