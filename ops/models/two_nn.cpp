#include "ops/models/two_nn.h"

#include "ops/models/parts.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_two_nn(const Options& /*options*/, const Port& input, std::int64_t classes) {
  ModelSpec spec;
  spec.input = input;
  add_flatten(spec);
  spec.layers.push_back(linear("fc1", 200, true));
  spec.layers.push_back(linear("fc2", 200, true));
  spec.layers.push_back(linear("fc3", classes));
  return spec;
}

}  // namespace

ModelEntry two_nn_entry() {
  return {"2nn", "the FedAvg paper's network of two hidden layers of 200", {}, &make_two_nn};
}

}  // namespace shoal::ops
