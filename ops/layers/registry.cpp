#include "ops/find_entry.h"
#include "ops/layer.h"
#include "ops/layers/avg_pool.h"
#include "ops/layers/conv2d.h"
#include "ops/layers/flatten.h"
#include "ops/layers/global_avg_pool.h"
#include "ops/layers/linear.h"
#include "ops/layers/max_pool.h"
#include "ops/layers/relu.h"
#include "ops/layers/residual.h"

namespace shoal::ops {

const std::vector<LayerEntry>& layer_registry() {
  static const std::vector<LayerEntry> entries = {
      linear_entry(), relu_entry(),     flatten_entry(),  residual_entry(),
      conv2d_entry(), max_pool_entry(), avg_pool_entry(), global_avg_pool_entry(),
  };
  return entries;
}

Result<const LayerEntry*> find_layer(std::string_view type) {
  return find_entry(layer_registry(), &LayerEntry::type, "layer", type);
}

}  // namespace shoal::ops
