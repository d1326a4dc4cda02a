#include "ops/layers/gru.h"

#include "ops/layers/recurrent.h"

namespace shoal::ops {
namespace {

class Gru final : public RecurrentLayer {
 public:
  explicit Gru(const Options& options) : RecurrentLayer(options, 3, true) {}

 private:
  [[nodiscard]] OnnxCell onnx_cell() const override {
    return {"GRU", {1, 0, 2}, {{"linear_before_reset", std::int64_t{1}}}};
  }
  void run(Backend& backend, const Cells& c) const override {
    backend.gru({c.gates, c.weight, c.bias_input, c.bias_hidden, c.h, c.extra, c.scratch});
  }
  void run_backward(Backend& backend, const Cells& c) const override {
    backend.gru_backward(
        {c.gates, c.weight, c.h, c.extra, c.dh, c.dgates, c.drecurrent, c.scratch});
  }
};

}  // namespace

LayerEntry gru_entry() {
  return {"gru", "gated recurrent units over [length, width], all outputs", recurrent_options(),
          [](const Options& options) -> std::unique_ptr<Layer> {
            return std::make_unique<Gru>(options);
          },
          recurrent_examples()};
}

}  // namespace shoal::ops
