#pragma once

#include <string>

#include "ops/architecture.h"

namespace shoal::ops {

/// Layers as models write them down.
LayerSpec linear(std::string name, std::int64_t out, bool with_relu = false);

struct ConvPart {
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = true;
  bool with_relu = false;
  std::int64_t max_pool = 1;
};
LayerSpec conv(std::string name, std::int64_t out, const ConvPart& part);

/// Everything of a sample as one dimension, unless it is one already.
void add_flatten(ModelSpec& spec);

/// Errors: kConfig, naming the model, when samples are no images.
Status needs_image(const std::string& model, const Port& input);

}  // namespace shoal::ops
