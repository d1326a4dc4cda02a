#include "ops/models/lenet5.h"

#include "ops/models/parts.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_lenet5(const Options& /*options*/, const Port& input, std::int64_t classes) {
  SHOAL_TRY(needs_image("lenet5", input));
  const std::int64_t width = input.shape[input.shape.rank() - 1];
  ConvPart part;
  part.kernel = 5;
  part.padding = width < 32 ? 2 : 0;
  part.with_relu = true;
  part.max_pool = 2;
  ModelSpec spec;
  spec.input = input;
  spec.layers.push_back(conv("conv1", 6, part));
  part.padding = 0;
  spec.layers.push_back(conv("conv2", 16, part));
  add_flatten(spec);
  spec.layers.push_back(linear("fc1", 120, true));
  spec.layers.push_back(linear("fc2", 84, true));
  spec.layers.push_back(linear("fc3", classes));
  return spec;
}

}  // namespace

ModelEntry lenet5_entry() {
  return {
      "lenet5", "LeNet-5 with ReLU and max pooling; images of 28x28 or 32x32", {}, &make_lenet5};
}

}  // namespace shoal::ops
