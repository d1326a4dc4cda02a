#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/backend.h"
#include "ops/base/options.h"
#include "ops/base/result.h"
#include "ops/base/rng.h"
#include "ops/init.h"
#include "ops/parameters.h"
#include "ops/saved.h"
#include "ops/tensor.h"

namespace shoal::ops {

namespace onnx {
struct LayerContext;
}

enum class Mode : std::uint8_t { kTrain, kEval };

/// Two buffers that gradients of activations alternate between on their way back, and a stack for
/// those that must outlast the way through an inner chain.
class Workspace {
 public:
  /// Memory that is not what `taken` views. Errors: kDevice.
  Result<TensorView> other_than(const TensorView& taken, Backend& backend, const Shape& shape);
  /// Memory of reals of any contents that stands until the pop() that belongs to it.
  /// Errors: kDevice.
  Result<TensorView> hold(Backend& backend, const Shape& shape);
  /// A copy that stands until the pop() that belongs to it. Errors: kDevice.
  Result<TensorView> push(ConstTensorView values, Backend& backend);
  void pop() { --depth_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  Scratch buffers_[2];
  std::vector<Scratch> stack_;
  std::size_t depth_ = 0;
};

struct LayerPlan;

/// What a layer is called with. `rng` is a stream of this (run seed, layer, step, micro-batch):
/// a layer copies it, so that forward called again draws the same numbers.
struct Ctx {
  Mode mode = Mode::kTrain;
  std::uint64_t step = 0;
  std::uint32_t micro_batch = 0;
  Rng rng{0, 0};
  Backend* backend = nullptr;
  Workspace* workspace = nullptr;
  const LayerPlan* plan = nullptr;      ///< what plan() said
  std::span<const TensorView> params;   ///< in the order of LayerPlan::params
  std::span<const TensorView> grads;    ///< alike; an empty view means: not wanted (frozen)
  std::span<const TensorView> buffers;  ///< in the order of LayerPlan::buffers
  ConstTensorView
      added;  ///< what forward adds to its result, where LayerPlan::adds; empty: nothing
  Into gradients_into = Into::kReplace;
  bool input_gradient = true;  ///< false: no layer before learns, backward may return an empty view
};

/// What flows between layers: a shape without the batch dimension; reals or integers (tokens).
struct Port {
  Shape shape;
  bool index = false;
  friend bool operator==(const Port&, const Port&) = default;
};

struct ParamDecl {
  std::string name;  ///< within the layer: "weight"
  Shape shape;
  Init init;
};

struct BufferDecl {
  std::string name;
  Shape shape;
  BufferPolicy policy = BufferPolicy::kKeepLocal;
  float value = 0;  ///< before the first step
};

/// What a layer is for a given input, before anything is allocated.
struct LayerPlan {
  Port output;
  std::vector<ParamDecl> params;
  std::vector<BufferDecl> buffers;
  std::size_t saved_elements = 0;    ///< reals that `Saved` holds, per sample
  std::size_t saved_fixed = 0;       ///< and whatever the batch is
  std::size_t scratch_elements = 0;  ///< reals that it takes for a while besides, per sample
  std::size_t scratch_fixed = 0;     ///< and whatever the batch is
  /// Whether backward returns dy's memory, so that no buffer of the workspace is taken for dx.
  bool gradient_in_place = false;
  /// Whether forward adds what a residual layer around it asks for, as backward never reads the
  /// sum.
  bool adds = false;
  /// What it asks of ConvOps, of one sample; `batch` 0: nothing. A device keeps memory for that.
  ConvSizes conv{};
  std::uint64_t forward_flops = 0;  ///< per sample, a multiply-add counts two
  std::int64_t index_below = 0;     ///< integers that go in lie in [0, this); 0: any
  std::vector<LayerPlan> inner;     ///< of layers within this one
  Shape inner_input;                ///< within another layer: of one sample that comes in
};

/// A differentiable function. Objects hold options only: parameters, gradients and buffers come
/// with Ctx, what must be remembered lies in Saved. So many micro-batches may be in flight.
class Layer {
 public:
  virtual ~Layer() = default;
  /// Errors: kConfig, what of the input does not fit ("needs ... but gets [28, 28]").
  [[nodiscard]] virtual Result<LayerPlan> plan(const Port& input) const = 0;
  /// Shapes: x [N, input...] -> y [N, output...]. y lies in `saved` or is a view of x.
  /// Requires: `saved.input` is set to x by the caller. Errors: kDevice.
  [[nodiscard]] virtual Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                                   Saved& saved) const = 0;
  /// Puts or adds parameter gradients where ctx says and returns dx; may overwrite dy and return
  /// it. Shapes: dy as y -> dx as x. Errors: kDevice.
  [[nodiscard]] virtual Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                                    Saved& saved) const = 0;
  /// Applies what forward staged in `saved` (running statistics). Called once a micro-batch, in
  /// micro-batch order.
  virtual void step(const Ctx& /*ctx*/, Saved& /*saved*/) const {}
  /// Adds the ONNX nodes that compute this in eval mode from value `x` [batch, input...], and
  /// returns the name of what comes out. Errors: kConfig, which is what a layer says that has none.
  [[nodiscard]] virtual Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                                       const std::string& x) const;
};

/// One layer of a model as written down. An empty name becomes the position ("0", "1", ...), as
/// in PyTorch's Sequential, and "shortcut.0" in a shortcut. Options that are left out get their
/// defaults.
struct LayerSpec {
  std::string type;
  std::string name;
  std::vector<std::pair<std::string, OptionValue>> options;
  std::vector<LayerSpec> inner = {};     ///< of a layer around others
  std::vector<LayerSpec> shortcut = {};  ///< of a residual layer: what its input passes
  /// Parameters that share memory with one of a layer before: {"weight", "wte.weight"}. Only of
  /// layers that do not lie within others.
  std::vector<std::pair<std::string, std::string>> ties = {};
};

/// An input and options under which a new layer is tested before anyone writes a test.
struct LayerExample {
  Port input;
  std::vector<std::pair<std::string, OptionValue>> options;
  std::vector<LayerSpec> inner = {};
  std::vector<LayerSpec> shortcut = {};
};

/// A layer within another; its parameters are called "<name>.<parameter>".
struct NamedLayer {
  std::string name;
  std::string type;
  std::unique_ptr<Layer> layer;
};

/// One line of the registry.
struct LayerEntry {
  std::string type;
  std::string help;
  std::vector<OptionSpec> options;
  std::unique_ptr<Layer> (*make)(const Options& options);  ///< null when make_around is there
  std::vector<LayerExample> examples;
  std::unique_ptr<Layer> (*make_around)(const Options& options, std::vector<NamedLayer> inner,
                                        std::vector<NamedLayer> shortcut) = nullptr;
};

const std::vector<LayerEntry>& layer_registry();

/// Errors: kConfig with the nearest type.
Result<const LayerEntry*> find_layer(std::string_view type);

/// A layer with all it holds. Errors: kConfig: an unknown type, an option, layers inside one that
/// holds none; an inner layer is named.
Result<std::unique_ptr<Layer>> make_layer(const LayerSpec& spec);

/// `error`, with the layer it is about: "layer 2 (linear "fc"): ...".
Error in_layer(const Error& error, std::size_t index, const std::string& type,
               const std::string& name);

}  // namespace shoal::ops
