#include "ops/layers/sigmoid.h"

#include "ops/layers/activations.h"

namespace shoal::ops {

LayerEntry sigmoid_entry() {
  return {"sigmoid",
          "1 / (1 + e^-x)",
          {},
          [](const Options& /*options*/) { return make_activation(Activation::kSigmoid); },
          activation_examples()};
}

}  // namespace shoal::ops
