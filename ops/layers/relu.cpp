#include "ops/layers/relu.h"

#include "ops/layers/activations.h"

namespace shoal::ops {

LayerEntry relu_entry() {
  return {"relu",
          "max(x, 0)",
          {},
          [](const Options& /*options*/) { return make_activation(Activation::kRelu); },
          activation_examples()};
}

}  // namespace shoal::ops
