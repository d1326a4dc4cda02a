#pragma once

#include <cstdint>
#include <vector>

#include "ops/layer.h"
#include "ops/onnx/graph.h"

namespace shoal::ops {

/// What LSTM and GRU share: layers of cells, one product of the input with all steps at once before
/// them, and one product for each gradient of a weight after the way back through time. Parameters
/// of layer l are called weight_ih_l<l>, weight_hh_l<l>, bias_ih_l<l>, bias_hh_l<l>, as PyTorch's.
/// Shapes: x [N, T, F] -> y [N, T, H].
class RecurrentLayer : public Layer {
 public:
  [[nodiscard]] Result<LayerPlan> plan(const Port& input) const override;
  [[nodiscard]] Result<TensorView> forward(const Ctx& ctx, TensorView x,
                                           Saved& saved) const override;
  [[nodiscard]] Result<TensorView> backward(const Ctx& ctx, TensorView dy,
                                            Saved& saved) const override;
  [[nodiscard]] Result<std::string> write_onnx(const onnx::LayerContext& ctx,
                                               const std::string& x) const override;

 protected:
  /// `gates` of a cell; `split`: the recurrent sums have gradients of their own.
  RecurrentLayer(const Options& options, std::int64_t gates, bool split);

  /// What one layer's cells work on. `extra` is [N, T, H] and remembered.
  struct Cells {
    ConstTensorView weight;
    ConstTensorView bias_input;
    ConstTensorView bias_hidden;
    TensorView gates;
    TensorView h;
    TensorView extra;
    TensorView scratch;  // [N, gates H] on the way forward, [2, N, H] on the way back
    TensorView dgates;
    TensorView drecurrent;
    ConstTensorView dh;
  };
  /// ONNX's operator, and which of our gates stand in the places of its own.
  struct OnnxCell {
    std::string type;
    std::vector<std::size_t> gates;
    std::vector<onnx::Attribute> attributes;
  };
  [[nodiscard]] virtual OnnxCell onnx_cell() const = 0;
  virtual void run(Backend& backend, const Cells& cells) const = 0;
  virtual void run_backward(Backend& backend, const Cells& cells) const = 0;

 private:
  [[nodiscard]] std::size_t params_each() const { return with_bias_ ? 4 : 2; }
  /// Memory of one layer in a pass. Errors: kDevice.
  Result<Cells> cells(const Ctx& ctx, Saved& saved, std::size_t layer, std::int64_t sequences,
                      std::int64_t length) const;
  void add_gradients(const Ctx& ctx, const Cells& cells, std::size_t layer, ConstTensorView x,
                     ConstTensorView before) const;

  std::int64_t hidden_;
  std::size_t layers_;
  bool with_bias_;
  std::int64_t gates_;
  bool split_;
};

/// Options of both, and examples.
std::vector<OptionSpec> recurrent_options();
std::vector<LayerExample> recurrent_examples();

}  // namespace shoal::ops
