#include "ops/find_entry.h"
#include "ops/layer.h"
#include "ops/layers/attention.h"
#include "ops/layers/avg_pool.h"
#include "ops/layers/batch_norm.h"
#include "ops/layers/conv2d.h"
#include "ops/layers/dropout.h"
#include "ops/layers/embedding.h"
#include "ops/layers/flatten.h"
#include "ops/layers/gelu.h"
#include "ops/layers/global_avg_pool.h"
#include "ops/layers/group_norm.h"
#include "ops/layers/gru.h"
#include "ops/layers/layer_norm.h"
#include "ops/layers/linear.h"
#include "ops/layers/lstm.h"
#include "ops/layers/max_pool.h"
#include "ops/layers/positions.h"
#include "ops/layers/relu.h"
#include "ops/layers/residual.h"
#include "ops/layers/rms_norm.h"
#include "ops/layers/sigmoid.h"
#include "ops/layers/silu.h"
#include "ops/layers/tanh.h"

namespace shoal::ops {

const std::vector<LayerEntry>& layer_registry() {
  static const std::vector<LayerEntry> entries = {
      // clang-format off
      linear_entry(),
      relu_entry(),
      flatten_entry(),
      residual_entry(),
      conv2d_entry(),
      max_pool_entry(),
      avg_pool_entry(),
      global_avg_pool_entry(),
      attention_entry(),
      dropout_entry(),
      embedding_entry(),
      gelu_entry(),
      gru_entry(),
      lstm_entry(),
      positions_entry(),
      sigmoid_entry(),
      silu_entry(),
      tanh_entry(),
      layer_norm_entry(),
      rms_norm_entry(),
      group_norm_entry(),
      batch_norm_entry(),
      // clang-format on
  };
  return entries;
}

Result<const LayerEntry*> find_layer(std::string_view type) {
  return find_entry(layer_registry(), &LayerEntry::type, "layer", type);
}

}  // namespace shoal::ops
