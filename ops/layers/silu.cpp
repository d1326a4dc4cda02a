#include "ops/layers/silu.h"

#include "ops/layers/activations.h"

namespace shoal::ops {

LayerEntry silu_entry() {
  return {"silu",
          "x / (1 + e^-x)",
          {},
          [](const Options& /*options*/) { return make_activation(Activation::kSilu); },
          activation_examples()};
}

}  // namespace shoal::ops
