#include "ops/models/resnet.h"

#include <span>

#include "ops/models/parts.h"

namespace shoal::ops {
namespace {

LayerSpec group_norm(std::string name, std::int64_t groups) {
  return {"group_norm", std::move(name), {{"groups", groups}}};
}

LayerSpec block(std::string name, std::int64_t in, std::int64_t out, std::int64_t stride,
                std::int64_t groups) {
  ConvPart part;
  part.padding = 1;
  part.bias = false;
  LayerSpec spec{"residual", std::move(name), {{"activation", std::string("relu")}}};
  part.stride = stride;
  spec.inner.push_back(conv("conv1", out, part));
  spec.inner.push_back(group_norm("gn1", groups));
  spec.inner.push_back({"relu", "relu", {}});
  part.stride = 1;
  spec.inner.push_back(conv("conv2", out, part));
  spec.inner.push_back(group_norm("gn2", groups));
  if (stride != 1 || in != out) {
    part.kernel = 1;
    part.padding = 0;
    part.stride = stride;
    spec.shortcut.push_back(conv("downsample.0", out, part));
    spec.shortcut.push_back(group_norm("downsample.1", groups));
  }
  return spec;
}

/// `widths` of the stages, each of which but the first halves the image in its first block.
Result<ModelSpec> make(const Options& options, const Port& input, std::int64_t classes,
                       std::span<const std::int64_t> widths, int blocks) {
  SHOAL_TRY(needs_image("resnet", input));
  const std::int64_t groups = options.get_int("groups");
  ConvPart stem;
  stem.padding = 1;
  stem.bias = false;
  ModelSpec spec;
  spec.input = input;
  spec.layers.push_back(conv("conv1", widths[0], stem));
  spec.layers.push_back(group_norm("gn1", groups));
  spec.layers.push_back({"relu", "relu", {}});
  std::int64_t in = widths[0];
  for (std::size_t stage = 0; stage < widths.size(); ++stage) {
    for (int i = 0; i < blocks; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      spec.layers.push_back(block(name, in, widths[stage], stage > 0 && i == 0 ? 2 : 1, groups));
      in = widths[stage];
    }
  }
  spec.layers.push_back({"global_avg_pool", "avgpool", {}});
  spec.layers.push_back(linear("fc", classes));
  return spec;
}

Result<ModelSpec> make_8(const Options& options, const Port& input, std::int64_t classes) {
  constexpr std::int64_t kWidths[] = {16, 32, 64};
  return make(options, input, classes, kWidths, 1);
}

Result<ModelSpec> make_18(const Options& options, const Port& input, std::int64_t classes) {
  constexpr std::int64_t kWidths[] = {64, 128, 256, 512};
  return make(options, input, classes, kWidths, 2);
}

std::vector<OptionSpec> options() {
  return {{"groups",
           OptionType::kInt,
           std::int64_t{8},
           "groups of the group norms",
           1.0,
           512.0,
           {},
           Scope::kRun}};
}

}  // namespace

ModelEntry resnet8_entry() {
  return {"resnet8", "ResNet-8 with group norm, for images of 32x32", options(), &make_8};
}

ModelEntry resnet18_entry() {
  return {"resnet18", "ResNet-18 with group norm, for images of 32x32", options(), &make_18};
}

}  // namespace shoal::ops
