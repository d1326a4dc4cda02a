#include "ops/models/parts.h"

#include <utility>

namespace shoal::ops {
namespace {

std::string activation(bool with_relu) { return with_relu ? "relu" : "none"; }

}  // namespace

LayerSpec linear(std::string name, std::int64_t out, bool with_relu) {
  return {"linear", std::move(name), {{"out", out}, {"activation", activation(with_relu)}}};
}

LayerSpec conv(std::string name, std::int64_t out, const ConvPart& part) {
  return {"conv2d",
          std::move(name),
          {{"out", out},
           {"kernel", part.kernel},
           {"stride", part.stride},
           {"padding", part.padding},
           {"bias", part.bias},
           {"activation", activation(part.with_relu)},
           {"max_pool", part.max_pool}}};
}

void add_flatten(ModelSpec& spec) {
  if (!spec.layers.empty() || spec.input.shape.rank() != 1) {
    spec.layers.push_back({"flatten", "flatten", {}});
  }
}

Status needs_image(const std::string& model, const Port& input) {
  if (input.index || (input.shape.rank() != 2 && input.shape.rank() != 3)) {
    return config_error("the model " + model + " takes images, [channels, height, width], but a " +
                        "sample has shape " + input.shape.text());
  }
  return {};
}

}  // namespace shoal::ops
