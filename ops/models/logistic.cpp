#include "ops/models/logistic.h"

#include "ops/models/parts.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_logistic(const Options& /*options*/, const Port& input,
                                std::int64_t classes) {
  ModelSpec spec;
  spec.input = input;
  add_flatten(spec);
  spec.layers.push_back(linear("fc", classes));
  return spec;
}

}  // namespace

ModelEntry logistic_entry() {
  return {"logistic", "softmax regression: one linear layer", {}, &make_logistic};
}

}  // namespace shoal::ops
