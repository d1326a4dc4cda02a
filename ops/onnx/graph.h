#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ops/base/result.h"
#include "ops/layer.h"
#include "ops/onnx/message.h"

namespace shoal::ops::onnx {

/// The version of ONNX's operators that layers are written in; onnxruntime 1.12 and newer run it.
inline constexpr std::int64_t kOpset = 17;

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;
/// "kernel_shape", {3, 3}.
using Attribute = std::pair<std::string, AttributeValue>;

/// A tensor of the model: a parameter or a buffer, by the name that PyTorch would give it.
struct ModelTensor {
  std::string name;
  Shape shape;
  std::span<const float> values;
};

/// An ONNX graph being written. Values are named; a layer chains names. Requires: what is borrowed
/// stands until the call returns; names of tensors mean one tensor.
class Graph {
 public:
  /// What comes in and goes out, by the sample; the first dimension, the batch, stays free.
  void input(const std::string& name, const Port& port) { graph_.message(11, value(name, port)); }
  void output(const std::string& name, const Port& port, const std::string& from);

  /// Names of values that follow begin with this: the layer at work.
  void enter(std::string layer) { layer_ = std::move(layer); }

  /// Adds a node and returns the name of its first output; others are left out. An empty input is
  /// one left out.
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});
  /// A tensor of the model under its own name; written once, however often it is asked for.
  std::string tensor(const ModelTensor& tensor);
  /// Constants that a layer makes up.
  std::string reals(const Shape& shape, std::span<const float> values);
  std::string real(double value);
  std::string integers(const std::vector<std::int64_t>& values);
  std::string integer(std::int64_t value);
  /// A reshape of [N, ...] to [N, sample...].
  std::string reshape(const std::string& x, const Shape& sample);
  /// x W^T + b over the last dimension; b may be null.
  std::string linear(const std::string& x, const ModelTensor& weight, const ModelTensor* bias);
  std::string activate(const std::string& x, Activation activation);

  /// The file. Errors: kConfig when it would pass the 2 GiB that protobuf allows.
  Result<Bytes> finish(const std::string& name);

 private:
  /// x (1 + t) / 2, which both kinds of gelu are.
  std::string half_of_more(const std::string& x, const std::string& t);
  static Message value(const std::string& name, const Port& port);
  std::string fresh(const std::string& word);
  void add_node(const std::string& op, const std::vector<std::string>& inputs,
                const std::string& output, const std::vector<Attribute>& attributes);
  void initializer(const std::string& name, std::span<const std::int64_t> dims,
                   std::int64_t data_type, ByteSpan raw);

  Message graph_;
  std::set<std::string> written_;  // tensors of the model
  std::string layer_;
  std::size_t next_ = 0;
};

/// What a layer is written out with, beside its options: as Ctx.
struct LayerContext {
  Graph* graph = nullptr;
  const LayerPlan* plan = nullptr;
  Shape input;                           ///< of one sample
  std::span<const ModelTensor> params;   ///< in the order of LayerPlan::params
  std::span<const ModelTensor> buffers;  ///< in the order of LayerPlan::buffers
};

}  // namespace shoal::ops::onnx
