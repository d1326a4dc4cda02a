#include "ops/layers/lstm.h"

#include "ops/layers/recurrent.h"

namespace shoal::ops {
namespace {

class Lstm final : public RecurrentLayer {
 public:
  explicit Lstm(const Options& options) : RecurrentLayer(options, 4, false) {}

 private:
  [[nodiscard]] OnnxCell onnx_cell() const override { return {"LSTM", {0, 3, 1, 2}, {}}; }
  void run(Backend& backend, const Cells& c) const override {
    backend.lstm({c.gates, c.weight, c.bias_input, c.bias_hidden, c.h, c.extra});
  }
  void run_backward(Backend& backend, const Cells& c) const override {
    backend.lstm_backward({c.gates, c.weight, c.extra, c.dh, c.dgates, c.scratch});
  }
};

}  // namespace

LayerEntry lstm_entry() {
  return {"lstm", "long short-term memory over [length, width], all outputs", recurrent_options(),
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<Lstm>(options);
          },
          recurrent_examples()};
}

}  // namespace shoal::ops
