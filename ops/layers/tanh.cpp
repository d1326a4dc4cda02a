#include "ops/layers/tanh.h"

#include "ops/layers/activations.h"

namespace shoal::ops {

LayerEntry tanh_entry() {
  return {"tanh",
          "the hyperbolic tangent",
          {},
          [](const Options& /*options*/) { return make_activation(Activation::kTanh); },
          activation_examples()};
}

}  // namespace shoal::ops
