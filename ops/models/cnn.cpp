#include "ops/models/cnn.h"

#include "ops/models/parts.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_cnn(const Options& /*options*/, const Port& input, std::int64_t classes) {
  SHOAL_TRY(needs_image("cnn", input));
  ConvPart part;
  part.kernel = 5;
  part.padding = 2;
  part.with_relu = true;
  part.max_pool = 2;
  ModelSpec spec;
  spec.input = input;
  spec.layers.push_back(conv("conv1", 32, part));
  spec.layers.push_back(conv("conv2", 64, part));
  add_flatten(spec);
  spec.layers.push_back(linear("fc1", 512, true));
  spec.layers.push_back(linear("fc2", classes));
  return spec;
}

}  // namespace

ModelEntry cnn_entry() {
  return {"cnn", "the FedAvg paper's convolutional network", {}, &make_cnn};
}

}  // namespace shoal::ops
