#include "ops/models/mlp.h"

namespace shoal::ops {
namespace {

Result<ModelSpec> make_mlp(const Options& options, const Port& input, std::int64_t classes) {
  const auto& widths = options.get_ints("layers");
  if (widths.size() < 2) {
    return config_error("layers needs at least two widths, such as [784, 256, 128, 10]");
  }
  const auto in = static_cast<std::int64_t>(input.shape.elements());
  if (widths.front() != in) {
    return config_error("layers begins with " + std::to_string(widths.front()) +
                        ", but a sample has " + std::to_string(in) + " numbers; begin with " +
                        std::to_string(in));
  }
  if (widths.back() != classes) {
    return config_error("layers ends with " + std::to_string(widths.back()) +
                        ", but the data has " + std::to_string(classes) + " classes; end with " +
                        std::to_string(classes));
  }
  ModelSpec spec;
  spec.input = input;
  if (input.shape.rank() != 1) {
    spec.layers.push_back({"flatten", "flatten", {}});
  }
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const std::string activation = i + 1 < widths.size() ? "relu" : "none";
    spec.layers.push_back(
        {"linear", "fc" + std::to_string(i), {{"out", widths[i]}, {"activation", activation}}});
  }
  return spec;
}

}  // namespace

ModelEntry mlp_entry() {
  return {"mlp",
          "linear layers with ReLU between",
          {{"layers",
            OptionType::kIntList,
            std::vector<std::int64_t>{784, 256, 128, 10},
            "widths from the input to the classes",
            1.0,
            1e6,
            {},
            Scope::kRun}},
          &make_mlp};
}

}  // namespace shoal::ops
