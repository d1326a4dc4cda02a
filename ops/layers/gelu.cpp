#include "ops/layers/gelu.h"

#include "ops/layers/activations.h"

namespace shoal::ops {

LayerEntry gelu_entry() {
  LayerEntry entry{"gelu",
                   "x times the share of a standard normal below x",
                   {{"approximate",
                     OptionType::kString,
                     std::string("none"),
                     "none: by the error function; tanh: by the hyperbolic tangent",
                     {},
                     {},
                     {"none", "tanh"},
                     Scope::kRun}},
                   [](const Options& options) {
                     return make_activation(options.get_string("approximate") == "tanh"
                                                ? Activation::kGeluTanh
                                                : Activation::kGelu);
                   },
                   activation_examples()};
  entry.examples.push_back({{{17}, false}, {{"approximate", std::string("tanh")}}});
  return entry;
}

}  // namespace shoal::ops
